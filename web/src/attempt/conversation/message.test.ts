import { expect, it } from "vitest";
import { messageOf } from "./message";

const LISTED = [
  { id: "1", file_path: ".forge-images/aa.png", original_name: "a.png" },
  { id: "2", file_path: ".forge-images/bb.png", original_name: "b.png" },
];

it("a picture that was sent stands beside the words, wherever its agent found it", () => {
  for (const folder of [".forge-images", "/trees/shop (2)/.forge-images", "/home/me/.forge/images"])
    expect(
      messageOf(`look\n\n![first](${folder}/aa.png)\n\n![](${folder}/bb.png)\n\nand say`, LISTED),
    ).toEqual({
      text: "look\n\nand say",
      pictures: [
        { id: "1", name: "first" },
        { id: "2", name: "b.png" },
      ],
    });
});

it("a picture within a sentence leaves its name there, and is shown once", () => {
  expect(messageOf("as in ![a](.forge-images/aa.png), not ![a](.forge-images/aa.png)", LISTED)).toEqual({
    text: "as in a, not a",
    pictures: [{ id: "1", name: "a" }],
  });
});

it("what is not a picture of the task stays words", () => {
  for (const text of [
    "![x](https://example.invalid/x.png)",
    "![x](.forge-images/cc.png)",
    "![x](/api/images/1/file)",
    "[a](.forge-images/aa.png)",
    "![a](.forge-images/aa.png?x)",
  ])
    expect(messageOf(text, LISTED)).toEqual({ text, pictures: [] });
  expect(messageOf("![a](.forge-images/aa.png)", [])).toEqual({
    text: "![a](.forge-images/aa.png)",
    pictures: [],
  });
});

it("words without a picture keep their empty lines", () => {
  expect(messageOf("one\n\n\n\ntwo", LISTED).text).toBe("one\n\n\n\ntwo");
});
