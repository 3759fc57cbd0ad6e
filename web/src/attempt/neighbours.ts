// The other tasks that have attempts, grouped by what they need, for the list beside a conversation.

import type { World } from "../api/world";
import { indexOf } from "../facts/index-of";
import type { Facts, State } from "../facts/state";

export type Neighbour = { task: string; title: string; attempt: string; facts: Facts };
export type Group = { words: string; neighbours: readonly Neighbour[] };

const GROUPS: ReadonlyArray<{ words: string; states: readonly State[] }> = [
  { words: "Needs you", states: ["asks approval", "asks question", "asks plan", "stalled"] },
  { words: "Failed", states: ["failed", "conflict"] },
  { words: "Running", states: ["running", "preparing", "queued", "limited", "unknown"] },
  { words: "To review", states: ["review", "pull request", "stopped"] },
];
const MOST = 60;

let last: { world: World; project: string | null; groups: readonly Group[] } | null = null;

/** The neighbours in a project, or in all; the same list for the same world. */
export function neighboursOf(world: World, project: string | null): readonly Group[] {
  if (last?.world === world && last.project === project) return last.groups;
  const { factsOf } = indexOf(world);
  const all: Neighbour[] = [];
  for (const task of world.tasks.values()) {
    if (project !== null && task.project_id !== project) continue;
    const facts = factsOf(task.id);
    if (!facts?.attempt) continue;
    all.push({ task: task.id, title: task.title, attempt: facts.attempt.id, facts });
  }
  const groups = GROUPS.map(({ words, states }) => ({
    words,
    neighbours: all
      .filter(({ facts }) => states.includes(facts.state))
      .sort((a, b) => (a.facts.since < b.facts.since ? -1 : 1))
      .slice(0, MOST),
  })).filter(({ neighbours }) => neighbours.length > 0);
  last = { world, project, groups };
  return groups;
}

/** The attempt before or after one in the list, around the ends. */
export function nextTo(groups: readonly Group[], task: string | null, step: 1 | -1): string | null {
  const all = groups.flatMap(({ neighbours }) => neighbours);
  if (all.length === 0) return null;
  const at = all.findIndex((neighbour) => neighbour.task === task);
  const to = at < 0 ? (step === 1 ? 0 : all.length - 1) : (at + step + all.length) % all.length;
  return all[to]?.attempt ?? null;
}
