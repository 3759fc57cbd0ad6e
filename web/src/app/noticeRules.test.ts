import { expect, test } from "vitest";
import type { World } from "../api/world";
import type { InboxItem, Kind } from "../facts/inbox";
import { isWorthTelling, newsOf, sentenceOfAll, wayOf } from "./noticeRules";

const NOW = Date.parse("2026-11-16T12:00:00.000Z");
const item = (kind: Kind, since = "2026-11-16T11:59:50.000Z", begun = since) =>
  ({
    id: `${kind}:1`,
    kind,
    title: "Rate limiter",
    since,
    attempt: { created_at: begun, last_run_id: null },
  }) as unknown as InboxItem;
const world = { runs: new Map() } as unknown as World;

test("only what is new and happened just now is news", () => {
  const old = item("failed", "2026-11-16T11:40:00.000Z");
  const opened = NOW - 3_600_000;
  expect(newsOf(new Set(), [old], opened, NOW)).toEqual([]);
  expect(newsOf(new Set(["question:1"]), [item("question")], opened, NOW)).toEqual([]);
  expect(newsOf(new Set(), [item("question")], opened, NOW)).toHaveLength(1);
  expect(newsOf(new Set(), [item("question")], NOW, NOW)).toEqual([]);
});

test("a run that was over within two minutes is not told to have finished", () => {
  expect(isWorthTelling(item("finished", undefined, "2026-11-16T11:59:00.000Z"), world)).toBe(false);
  expect(isWorthTelling(item("finished", undefined, "2026-11-16T11:50:00.000Z"), world)).toBe(true);
  expect(isWorthTelling(item("failed"), world)).toBe(true);
});

test("limits and stalls are told only when chosen, and nothing sounds unless chosen", () => {
  expect(wayOf({}, "approval")).toEqual({ browser: true, sound: false });
  expect(wayOf({}, "limit")).toEqual({ browser: false, sound: false });
  expect(wayOf({ limit: { browser: true, sound: true } }, "limit")).toEqual({ browser: true, sound: true });
});

test("one is named, several are counted", () => {
  expect(sentenceOfAll([item("finished")])).toBe("Rate limiter: ready for review");
  expect(sentenceOfAll([item("finished"), item("finished")])).toBe("2 tasks finished");
  expect(sentenceOfAll([item("finished"), item("failed")])).toBe("2 things need you");
});
