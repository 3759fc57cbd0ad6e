import { expect, it } from "vitest";
import { keyMeans, partsOf, promptOf, sendWord } from "./words";

it("the button says what happens", () => {
  expect(sendWord("running")).toBe("Queue");
  expect(sendWord("waiting")).toBe("Queue");
  expect(sendWord("finished")).toBe("Send");
  expect(sendWord("limited")).toBe("Send");
});

it("Enter sends on a desktop and makes a new line on a phone", () => {
  const enter = { key: "Enter", shiftKey: false, isMod: false };
  expect(keyMeans(enter, "Enter", false)).toBe("send");
  expect(keyMeans(enter, "Enter", true)).toBeNull();
  expect(keyMeans(enter, "Mod+Enter", false)).toBeNull();
  expect(keyMeans({ ...enter, shiftKey: true }, "Enter", false)).toBeNull();
  expect(keyMeans({ ...enter, isMod: true }, "Mod+Enter", true)).toBe("send");
  expect(keyMeans({ ...enter, isMod: true, shiftKey: true }, "Enter", false)).toBe("send now");
});

it("pictures are named in the prompt", () => {
  expect(promptOf(" look \n", [{ name: "a[1].png", path: ".forge-images/x.png" }])).toBe(
    "look\n\n![a1.png](.forge-images/x.png)",
  );
});

it("what is kept of the box is the box again, with its pictures", () => {
  const images = [
    { id: "1", name: "a.png", path: ".forge-images/a.png" },
    { id: "2", name: "b.png", path: ".forge-images/b.png" },
  ];
  for (const text of ["Look\n\nat this", "", "![my own](x.png)"])
    expect(partsOf(promptOf(text, images), ["1", "2"])).toEqual({ text, images });
  expect(partsOf("a\n\n![my own](x.png)", [])).toEqual({ text: "a\n\n![my own](x.png)", images: [] });
});

it("a picture that a prompt does not speak of is kept all the same", () => {
  expect(partsOf("Look", ["1"])).toEqual({ text: "Look", images: [{ id: "1", name: "picture", path: "" }] });
  expect(promptOf("Look", [{ name: "picture", path: "" }])).toBe("Look");
});
