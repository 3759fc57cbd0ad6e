import { expect, test } from "vitest";
import { counted, grouped } from "./numbers";

test("large numbers are read in groups of three", () => {
  expect([7, 999, 1000, 12_345, 1_234_567].map(grouped)).toEqual([
    "7",
    "999",
    "1,000",
    "12,345",
    "1,234,567",
  ]);
  expect([counted(1, "task"), counted(2000, "task")]).toEqual(["1 task", "2,000 tasks"]);
});
