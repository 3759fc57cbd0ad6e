// The order of cards in a column: what needs the person first, then what is fair.

import type { ColumnId, State } from "../facts/state";
import type { Card } from "./cards";

/** `own` is the column's own order. */
export type Sort = "own" | "newest" | "oldest" | "title";

export const SORTS: ReadonlyArray<{ id: Sort; words: string }> = [
  { id: "own", words: "As it comes" },
  { id: "newest", words: "Newest first" },
  { id: "oldest", words: "Oldest first" },
  { id: "title", words: "By title" },
];

type Compare = (a: Card, b: Card) => number;

export function sorted(cards: readonly Card[], column: ColumnId, sort: Sort = "own"): Card[] {
  const compare = sort === "own" ? OWN[column] : BY[sort];
  return [...cards].sort((a, b) => compare(a, b) || text(a.task.id, b.task.id));
}

const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const created: Compare = (a, b) => text(a.task.created_at, b.task.created_at);
const since: Compare = (a, b) => text(a.facts.since, b.facts.since);
const changed: Compare = (a, b) => text(b.task.updated_at, a.task.updated_at);

const RANK: Partial<Record<State, number>> = {
  "asks approval": 0,
  "asks question": 0,
  "asks plan": 0,
  stalled: 1,
  failed: 2,
  conflict: 3,
  running: 4,
  preparing: 4,
  queued: 5,
  limited: 6,
};
const rank: Compare = (a, b) => (RANK[a.facts.state] ?? 7) - (RANK[b.facts.state] ?? 7);

const BY: Record<Exclude<Sort, "own">, Compare> = {
  newest: (a, b) => created(b, a),
  oldest: created,
  title: (a, b) => a.task.title.localeCompare(b.task.title),
};

const OWN: Record<ColumnId, Compare> = {
  todo: (a, b) => (a.task.position ?? 0) - (b.task.position ?? 0) || created(b, a),
  inprogress: (a, b) => rank(a, b) || since(a, b),
  inreview: (a, b) => rank(a, b) || since(a, b),
  done: changed,
  archived: changed,
  cancelled: changed,
};
