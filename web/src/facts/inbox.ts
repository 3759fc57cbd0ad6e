// What needs the person, ranked: an agent that stands still first, then what broke, then what is ready.

import type { Approval, TaskAttempt } from "../api/types";
import type { World } from "../api/world";
import { sentence } from "../ui/sentence";
import { indexOf } from "./index-of";
import { attemptFacts, type State } from "./state";

export const KINDS = [
  "approval",
  "question",
  "plan",
  "failed",
  "conflict",
  "stall",
  "limit",
  "finished",
] as const;
export type Kind = (typeof KINDS)[number];

export type InboxItem = {
  /** The same as long as it is about the same thing. */
  id: string;
  kind: Kind;
  attempt: TaskAttempt;
  title: string;
  reason: string | null;
  since: string;
  ask: Approval | null;
};

const KIND_OF: Partial<Record<State, Kind>> = {
  "asks approval": "approval",
  "asks question": "question",
  "asks plan": "plan",
  failed: "failed",
  conflict: "conflict",
  stalled: "stall",
  limited: "limit",
  review: "finished",
};

let last: { world: World; minute: number; items: readonly InboxItem[] } | null = null;

/** The inbox of a world. What was put aside comes back when something new has happened, or at its time. */
export function inboxOf(world: World, now = Date.now()): readonly InboxItem[] {
  const minute = Math.floor(now / 60_000);
  if (last?.world === world && last.minute === minute) return last.items;
  const { asksOf } = indexOf(world);
  const items: InboxItem[] = [];
  for (const attempt of world.attempts.values()) {
    const task = attempt.task_id ? world.tasks.get(attempt.task_id) : undefined;
    if (task && (task.status === "archived" || task.status === "cancelled" || task.status === "done"))
      continue;
    const open = asksOf(attempt.id);
    const title = task?.title ?? attempt.branch;
    for (const ask of open) {
      const { state, reason, since } = attemptFacts(attempt, [ask]);
      if (isHidden(attempt, KIND_OF[state] ?? "question", since, now)) continue;
      items.push({
        id: `ask:${ask.approval_id}`,
        kind: KIND_OF[state] ?? "question",
        attempt,
        title,
        reason,
        since,
        ask,
      });
    }
    if (open.length > 0) continue;
    const { state, reason, since } = attemptFacts(attempt, []);
    const kind = KIND_OF[state];
    if (kind && !isHidden(attempt, kind, since, now)) {
      const why = reason && sentence(reason);
      items.push({ id: `${kind}:${attempt.id}`, kind, attempt, title, reason: why, since, ask: null });
    }
  }
  items.sort(
    (a, b) =>
      RANK[a.kind] - RANK[b.kind] || (a.since < b.since ? -1 : a.since > b.since ? 1 : a.id < b.id ? -1 : 1),
  );
  last = { world, minute, items };
  return items;
}

const RANK: Record<Kind, number> = {
  approval: 0,
  question: 0,
  plan: 0,
  failed: 1,
  conflict: 1,
  stall: 2,
  limit: 3,
  finished: 4,
};

function isHidden(attempt: TaskAttempt, kind: Kind, since: string, now: number) {
  const isLater = attempt.later_until === null || Date.parse(attempt.later_until) > now;
  if (attempt.dismissed_at && attempt.dismissed_at >= since && isLater) return true;
  return kind === "finished" && attempt.seen_at !== null && attempt.seen_at >= since;
}
