import { expect, test } from "vitest";
import type { AttemptSnapshot } from "../api/types";
import { sinceLook } from "./since";

const at = (id: string, minute: number, why = "turn") =>
  ({ id, why, created_at: `2026-01-01T10:${String(minute).padStart(2, "0")}:00Z` }) as AttemptSnapshot;
const SNAPSHOTS = [at("three", 30), at("two", 20), at("undo", 15, "a restore"), at("one", 10)];

test("what was done since the last look begins with the turn that was seen last", () => {
  expect(sinceLook(SNAPSHOTS, "2026-01-01T10:21:00Z")).toEqual({ from: "two", to: "now" });
  expect(sinceLook(SNAPSHOTS, "2026-01-01T10:16:00Z")).toEqual({ from: "one", to: "now" });
});

test("a rebase since the last look is told, an older one is not", () => {
  const rebased = [at("two", 20), at("before", 15, "before a rebase"), at("one", 10)];
  expect(sinceLook(rebased, "2026-01-01T10:11:00Z")).toEqual({ from: "one", to: "now", isRebased: true });
  expect(sinceLook([at("three", 30), ...rebased], "2026-01-01T10:21:00Z")).toEqual({
    from: "two",
    to: "now",
  });
});

test("who has seen everything, nothing or never looked is shown everything", () => {
  expect(sinceLook(SNAPSHOTS, "2026-01-01T10:31:00Z")).toBeNull();
  expect(sinceLook(SNAPSHOTS, "2026-01-01T10:05:00Z")).toBeNull();
  expect(sinceLook(SNAPSHOTS, null)).toBeNull();
});
