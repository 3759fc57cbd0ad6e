import { expect, test } from "vitest";
import { Refused } from "../api/client";
import type { BranchStatus } from "../api/types";
import { isOver, problemOf } from "./problem";

const left = (...files: string[]) =>
  problemOf(
    "Not finished",
    new Refused("Two conflicts are left.", 200, { type: "merge_conflicts", op: "rebase", files }),
    true,
  );
const waits = (...conflicted_files: string[]) =>
  ({ conflict_op: "rebase", conflicted_files }) as unknown as BranchStatus;
const rests = { conflict_op: null, conflicted_files: [] as string[] } as unknown as BranchStatus;

test("a refusal keeps the server's sentence and has the remedy of its kind", () => {
  expect(problemOf("Not merged", new Refused("main is ahead.", 409, "diverged"), false)).toEqual({
    sentence: "Not merged: main is ahead.",
    remedy: "rebase then merge",
    isOfConflict: false,
    files: [],
  });
  expect(problemOf("Not pushed", new Error("It broke."), false).remedy).toBeNull();
});

test("what was said of a conflict stands while its files conflict, also beside others", () => {
  expect(isOver(left("a"), undefined)).toBe(false);
  expect(isOver(left("a"), waits("a"))).toBe(false);
  expect(isOver(left("a"), waits("a", "b"))).toBe(false);
});

test("what was said of a conflict is over once a file of it is resolved, however soon that is", () => {
  expect(isOver(left("a"), waits())).toBe(true);
  expect(isOver(left("a", "b"), waits("b"))).toBe(true);
  expect(isOver(left("a"), waits("b"))).toBe(true);
  expect(isOver(left("a"), rests)).toBe(true);
});

test("a refusal of something else stays until it is closed", () => {
  expect(isOver(problemOf("Not pushed", new Error("It broke."), false), rests)).toBe(false);
});
