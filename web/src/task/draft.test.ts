import { expect, test } from "vitest";
import { fromPasted, isOvertaken, withoutPicture } from "./draft";

test("a short line stays a title", () => {
  expect(fromPasted("Fix the login")).toBe(null);
  expect(fromPasted("  Fix the login\n")).toBe(null);
});

test("a whole prompt is divided: its first line is the title, all of it the prompt", () => {
  expect(fromPasted("Fix the login\n\nIt fails on Mondays.")).toEqual({
    title: "Fix the login",
    prompt: "Fix the login\n\nIt fails on Mondays.",
  });
});

test("a long first line is cut between words", () => {
  const made = fromPasted("word ".repeat(40));
  expect(made?.title.length).toBeLessThanOrEqual(81);
  expect(made?.title).toMatch(/word…$/);
});

test("a change that was begun on older words is overtaken, unless it comes to the same", () => {
  const basis = { title: "Old", prompt: "words" };
  const draft = { title: "Mine", prompt: "words", images: [], basis };
  expect(isOvertaken(draft, basis)).toBe(false);
  expect(isOvertaken(draft, { ...basis, prompt: "newer words" })).toBe(true);
  expect(isOvertaken(draft, { title: "Mine", prompt: "words" })).toBe(false);
  expect(isOvertaken({ ...draft, basis: undefined }, basis)).toBe(true);
});

test("a picture that is removed leaves no words behind", () => {
  const path = ".forge-images/a+b.png";
  expect(withoutPicture(`Look:\n![a](${path})\nand go`, path)).toBe("Look:\nand go");
  expect(withoutPicture(`See ![a](${path}) here, ![b](other.png)`, path)).toBe("See  here, ![b](other.png)");
  expect(withoutPicture("nothing\n\nof it", path)).toBe("nothing\n\nof it");
});
