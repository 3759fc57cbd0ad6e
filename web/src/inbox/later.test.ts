import { expect, test } from "vitest";
import { latersAt } from "./later";

test("later is in an hour, this evening, tomorrow morning, or when it changes", () => {
  const [hour, evening, tomorrow, change] = latersAt(new Date(2026, 10, 16, 10, 30));
  expect(hour?.until).toEqual(new Date(2026, 10, 16, 11, 30));
  expect(evening?.until).toEqual(new Date(2026, 10, 16, 18, 0));
  expect(tomorrow?.until).toEqual(new Date(2026, 10, 17, 9, 0));
  expect(change?.until).toBeNull();
});

test("in the evening there is no evening to wait for", () => {
  expect(latersAt(new Date(2026, 10, 16, 21, 0)).map((it) => it.words)).not.toContain("This evening");
});
