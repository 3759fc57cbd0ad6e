import { describe, expect, it } from "vitest";
import type { NormalizedEntry } from "../../api/types";
import { keyAt, type Placed, upsert } from "./transcript";

const said = (content: string): NormalizedEntry => ({
  content,
  entry_type: { type: "assistant_message" },
  metadata: null,
  timestamp: null,
});
const at = (run: string, index: number, content = `${run}${index}`): Placed => ({
  key: keyAt(run, index),
  run,
  index,
  entry: said(content),
});
const words = (entries: readonly Placed[]) => entries.map(({ entry }) => entry.content).join(" ");
const ORDER = ["a", "b"];
const ROOM = Number.POSITIVE_INFINITY;

describe("what comes live", () => {
  it("is added at the end, and a newer form replaces the older", () => {
    const one = upsert([at("a", 0)], ORDER, "a", [{ index: 1, entry: said("new") }], ROOM, false);
    expect(words(one.entries)).toBe("a0 new");
    const two = upsert(one.entries, ORDER, "a", [{ index: 1, entry: said("newer") }], ROOM, false);
    expect(words(two.entries)).toBe("a0 newer");
    expect([one.added, two.added]).toEqual([1, 0]);
  });

  it("finds its place when it is told again from the beginning", () => {
    const window = [at("a", 5), at("a", 6)];
    const batch = [4, 5, 6, 7].map((index) => ({ index, entry: said(`a${index}`) }));
    expect(words(upsert(window, ORDER, "a", batch, ROOM, true).entries)).toBe("a5 a6 a7");
  });

  it("of an earlier run stands before that of a later one", () => {
    const { entries } = upsert([at("b", 0)], ORDER, "a", [{ index: 9, entry: said("late") }], ROOM, false);
    expect(words(entries)).toBe("late b0");
  });

  it("is left out when there is no room, and counted", () => {
    const batch = [1, 2].map((index) => ({ index, entry: said(`a${index}`) }));
    const { entries, leftOut } = upsert([at("a", 0)], ORDER, "a", batch, 1, false);
    expect(words(entries)).toBe("a0 a1");
    expect(leftOut).toBe(1);
  });
});
