import { expect, test } from "vitest";
import { best, nearness } from "./find";

test("every typed word must be there, in any order", () => {
  expect(nearness("Add a rate limiter", "limit rate")).toBeGreaterThan(0);
  expect(nearness("Add a rate limiter", "rate shop")).toBe(0);
});

test("the beginning is better than a word, a word better than the inside of one", () => {
  const found = best(["unlimited", "the limit", "limit it"], "limit", (text) => text, 10);
  expect(found.map(({ thing }) => thing)).toEqual(["limit it", "the limit", "unlimited"]);
});

test("letters in order are enough from three on", () => {
  expect(nearness("Pay the wages", "ptw")).toBeGreaterThan(0);
  expect(nearness("Pay the wages", "pw")).toBe(0);
});

test("nothing typed fits everything, in the order it had", () => {
  expect(best(["b", "a"], " ", (text) => text, 10).map(({ thing }) => thing)).toEqual(["b", "a"]);
});
