import { expect, test } from "vitest";
import { fromPasted } from "./draft";

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
