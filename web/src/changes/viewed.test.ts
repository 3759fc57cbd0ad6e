import { expect, test } from "vitest";
import type { Diff } from "../api/types";
import { changed } from "./sample";
import { holds, markOf } from "./viewed";

const listed = changed("a.js", { deletions: 1 });
const content = (newContent: string): Diff => ({
  ...listed,
  contentOmitted: false,
  oldContent: "one",
  newContent,
});

test("a mark is gone when other lines take the place of those that were read", () => {
  const mark = markOf(listed, content("two"));
  expect(holds(mark, listed, content("two"))).toBe(true);
  expect(holds(mark, listed, content("six"))).toBe(false);
  expect(holds(mark, { ...listed, additions: 2 }, null)).toBe(false);
});

test("until the contents have come, equal counts hold", () => {
  expect(holds(markOf(listed, content("two")), listed, null)).toBe(true);
  expect(holds(markOf(listed, null), listed, content("two"))).toBe(true);
  expect(holds(undefined, listed, null)).toBe(false);
});
