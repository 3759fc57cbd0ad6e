import { expect, it } from "vitest";
import { joined, left } from "./draft";

it("a message that comes back stands before what is being written, and neither loses a picture", () => {
  const message = { prompt: "First\n\n![a](p/a.png)", image_ids: ["a"] };
  expect(joined(message, { prompt: "", image_ids: [] })).toEqual(message);
  expect(joined(message, { prompt: "then\n\n![b](p/b.png)", image_ids: ["b"] })).toEqual({
    prompt: "First\n\nthen\n\n![a](p/a.png)\n\n![b](p/b.png)",
    image_ids: ["a", "b"],
  });
});

it("what is written while a message is on its way stays", () => {
  const [a, b] = ["a", "b"].map((id) => ({ id, name: `${id}.png`, path: `p/${id}.png` }));
  if (!a || !b) throw new Error("two pictures");
  const sent = { text: "Look at this", images: [a] };
  expect(left(sent, sent)).toEqual({ text: "", images: [] });
  expect(left({ text: "Look at this\nand that", images: [a, b] }, sent)).toEqual({
    text: "and that",
    images: [b],
  });
  expect(left({ text: "Look at this", images: [] }, { text: " Look at this ", images: [] }).text).toBe("");
  // Nobody can tell which words of a text that was changed were sent.
  expect(left({ text: "Don't look", images: [] }, sent)).toEqual({ text: "Don't look", images: [] });
});
