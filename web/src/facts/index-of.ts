// What belongs to what, worked out once for each world: attempts of a task, asks of an attempt, facts of each task.

import type { Approval, TaskAttempt } from "../api/types";
import type { World } from "../api/world";
import { attemptFacts, type Facts, taskFacts } from "./state";

export type Index = {
  /** The attempts of a task, the newest first. */
  attemptsOf(task: string): readonly TaskAttempt[];
  /** The open asks of an attempt, the oldest first. */
  asksOf(attempt: string): readonly Approval[];
  factsOf(task: string): Facts | undefined;
  factsOfAttempt(attempt: string): Facts | undefined;
};

const NONE: readonly never[] = [];
let last: { world: World; index: Index } | null = null;

/** The index of a world; the same one for the same world. */
export function indexOf(world: World): Index {
  if (last?.world === world) return last.index;
  const attempts = grouped(world.attempts.values(), (attempt) => attempt.task_id ?? "");
  for (const list of attempts.values()) list.sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  const open = [...world.asks.values()].filter((ask) => ask.state === "open");
  const asks = grouped(open, (ask) => ask.task_attempt_id);
  for (const list of asks.values()) list.sort((a, b) => (a.requested_at < b.requested_at ? -1 : 1));

  const attemptsOf = (task: string) => attempts.get(task) ?? NONE;
  const asksOf = (attempt: string) => asks.get(attempt) ?? NONE;
  const facts = new Map<string, Facts>();
  const index: Index = {
    attemptsOf,
    asksOf,
    factsOf(id) {
      const known = facts.get(id);
      if (known) return known;
      const task = world.tasks.get(id);
      if (!task) return undefined;
      const made = taskFacts(task, attemptsOf(id), asksOf);
      facts.set(id, made);
      return made;
    },
    factsOfAttempt(id) {
      const attempt = world.attempts.get(id);
      return attempt && attemptFacts(attempt, asksOf(id));
    },
  };
  last = { world, index };
  return index;
}

function grouped<T>(things: Iterable<T>, by: (thing: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const thing of things) {
    const key = by(thing);
    const group = groups.get(key);
    if (group) group.push(thing);
    else groups.set(key, [thing]);
  }
  return groups;
}
