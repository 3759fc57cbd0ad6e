import { expect, it } from "vitest";
import { mentionAt, replaced } from "./mention";

it("an @ that begins a word is a mention; one inside an address is not", () => {
  expect(mentionAt("see @src/a", 10)).toEqual({ from: 4, to: 10, word: "src/a" });
  expect(mentionAt("@", 1)).toEqual({ from: 0, to: 1, word: "" });
  expect(mentionAt("me@example", 10)).toBeNull();
  expect(mentionAt("see @a b", 8)).toBeNull();
});

it("what was chosen takes its place, with one blank behind it", () => {
  expect(replaced("see @sr now", { from: 4, to: 7, word: "sr" }, "src/a.ts")).toEqual({
    text: "see src/a.ts now",
    caret: 12,
  });
  expect(replaced("@x", { from: 0, to: 2, word: "x" }, "Run the tests.").text).toBe("Run the tests. ");
});
