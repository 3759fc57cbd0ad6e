import { expect, it } from "vitest";
import { joined } from "./draft";

it("a message that comes back stands before what is being written, and neither loses a picture", () => {
  const message = { prompt: "First\n\n![a](p/a.png)", image_ids: ["a"] };
  expect(joined(message, { prompt: "", image_ids: [] })).toEqual(message);
  expect(joined(message, { prompt: "then\n\n![b](p/b.png)", image_ids: ["b"] })).toEqual({
    prompt: "First\n\nthen\n\n![a](p/a.png)\n\n![b](p/b.png)",
    image_ids: ["a", "b"],
  });
});
