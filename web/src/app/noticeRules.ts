// Which news of the inbox become a notice, and how they are put into words. Nothing here shows or asks.

import type { World } from "../api/world";
import type { InboxItem, Kind } from "../facts/inbox";

export type Way = { browser: boolean; sound: boolean };

/** What is told by default, once the browser may show notices: everything that an agent stands still for, or broke. */
const TOLD: Record<Kind, boolean> = {
  approval: true,
  question: true,
  plan: true,
  failed: true,
  conflict: true,
  stall: false,
  limit: false,
  finished: true,
};

/** How a kind is told, as the person chose it. */
export const wayOf = (chosen: Record<string, Way>, kind: Kind): Way =>
  chosen[kind] ?? { browser: TOLD[kind], sound: false };

/** Who watched a short run needs no notice of its end. */
const SHORT_RUN = 120_000;
/** What happened longer ago is no news: it is what a connection caught up with. */
const NEWS = 60_000;

/** What is in the inbox now and was not before, if it happened just now and after the page was opened. */
export function newsOf(
  before: ReadonlySet<string>,
  items: readonly InboxItem[],
  opened: number,
  now: number,
): readonly InboxItem[] {
  return items.filter(({ id, since }) => {
    const at = Date.parse(since);
    return !before.has(id) && at >= opened && now - at < NEWS;
  });
}

/** A run that was over quickly is not told to have finished. */
export function isWorthTelling(item: InboxItem, world: World): boolean {
  if (item.kind !== "finished") return true;
  const run = item.attempt.last_run_id ? world.runs.get(item.attempt.last_run_id) : undefined;
  const begun = run?.started_at ?? item.attempt.created_at;
  return Date.parse(item.since) - Date.parse(begun) >= SHORT_RUN;
}

const WORDS: Record<Kind, string> = {
  approval: "asks for approval",
  question: "asks a question",
  plan: "has a plan ready",
  failed: "failed",
  conflict: "has conflicts",
  stall: "seems stuck",
  limit: "reached a usage limit",
  finished: "ready for review",
};

/** `Rate limiter: ready for review` */
export const lineOf = (item: InboxItem) => `${item.title}: ${WORDS[item.kind]}`;

/** Several as one sentence. */
export function sentenceOfAll(items: readonly InboxItem[]): string {
  const [first] = items;
  if (items.length === 1 && first) return lineOf(first);
  return items.every((item) => item.kind === "finished")
    ? `${items.length} tasks finished`
    : `${items.length} things need you`;
}
