import { expect, it } from "vitest";
import { counted, countsOf, keyAtPlace, placeOf, totalOf } from "./whole";

const COUNTS = [
  { run: "a", entries: 3 },
  { run: "b", entries: 0 },
  { run: "c", entries: 5 },
];

it("every place is that of one entry, and every entry has its place", () => {
  const keys = Array.from({ length: totalOf(COUNTS) }, (_, place) => keyAtPlace(COUNTS, place));
  expect(keys).toEqual(["a:0", "a:1", "a:2", "c:0", "c:1", "c:2", "c:3", "c:4"]);
  expect(keys.map((key) => placeOf(COUNTS, key ?? ""))).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect([keyAtPlace(COUNTS, 8), placeOf(COUNTS, "d:0")]).toEqual([null, null]);
});

it("what comes live is counted on, and what is changed is not counted again", () => {
  expect(counted(COUNTS, "c", 5)).toContainEqual({ run: "c", entries: 6 });
  expect(counted(COUNTS, "c", 4)).toBe(COUNTS);
  expect(counted(COUNTS, "d", 0)?.at(-1)).toEqual({ run: "d", entries: 1 });
  expect(counted(null, "d", 0)).toBeNull();
});

it("nothing is claimed about the whole while the entries of a run are being made", () => {
  const run = (id: string, entries: number | null) => ({ id, entries, after: null, is_over: true });
  expect(countsOf([run("a", 3), run("b", null)])).toBeNull();
  expect(countsOf([run("a", 3)])).toEqual([{ run: "a", entries: 3 }]);
});
