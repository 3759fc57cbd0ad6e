// The cards of a board: what is known of each task, put into columns, filtered and ordered. Nothing here draws.

import type { TaskAttempt, TaskWithAttemptStatus } from "../api/types";
import type { World } from "../api/world";
import { indexOf } from "../facts/index-of";
import { COLUMNS, type ColumnId, type Facts, isColumn } from "../facts/state";
import { type Filter, isEmptyFilter, matches } from "./filter";
import { type Sort, sorted } from "./order";

export type Card = {
  task: TaskWithAttemptStatus;
  facts: Facts;
  project: string;
  attempts: number;
  /** The title of the task that this one is a part of. */
  partOf: string | null;
  /** How many of its own parts are done, and of how many. */
  parts: { done: number; all: number } | null;
};

export type Arrangement = {
  columns: Record<ColumnId, readonly string[]>;
  /** How many there are without the filter, by column. */
  counts: Record<ColumnId, number>;
  running: number;
  asks: number;
  toReview: number;
  /** Tasks of this board that the filter hides. */
  hidden: number;
  all: number;
};

type Wanted = { project: string | null; filter: Filter; sorts: Partial<Record<ColumnId, Sort>> };

const byColumn = <T>(make: () => T) =>
  Object.fromEntries(COLUMNS.map(({ id }) => [id, make()])) as Record<ColumnId, T>;

/** The board of a project, or of all of them. */
export function arrange(world: World, { project, filter, sorts }: Wanted, now = Date.now()): Arrangement {
  const cards = byColumn<Card[]>(() => []);
  const counts = byColumn(() => 0);
  const isFiltered = !isEmptyFilter(filter);
  const sum = { running: 0, asks: 0, toReview: 0, hidden: 0, all: 0 };
  for (const task of world.tasks.values()) {
    if ((project && task.project_id !== project) || !isColumn(task.status)) continue;
    const card = cardOf(world, task.id);
    if (!card) continue;
    sum.all += 1;
    counts[task.status] += 1;
    const { state } = card.facts;
    if (state === "running" || state === "preparing" || state === "stalled") sum.running += 1;
    else if (state.startsWith("asks") || state === "failed" || state === "conflict") sum.asks += 1;
    else if (state === "review" || state === "pull request") sum.toReview += 1;
    if (isFiltered && !matches(filter, card, now)) sum.hidden += 1;
    else cards[task.status].push(card);
  }
  const columns = byColumn<readonly string[]>(() => []);
  for (const { id } of COLUMNS) columns[id] = sorted(cards[id], id, sorts[id]).map((card) => card.task.id);
  return { columns, counts, ...sum };
}

/** What is known of one task. */
export function cardOf(world: World, id: string): Card | undefined {
  const task = world.tasks.get(id);
  const facts = indexOf(world).factsOf(id);
  if (!task || !facts) return undefined;
  const parent = task.parent_task_attempt ? world.attempts.get(task.parent_task_attempt) : undefined;
  const attempts = indexOf(world).attemptsOf(id);
  return {
    task,
    facts,
    project: world.projects.get(task.project_id)?.name ?? "",
    attempts: attempts.length,
    partOf: parent?.task_id ? (world.tasks.get(parent.task_id)?.title ?? null) : null,
    parts: partsOf(world, attempts),
  };
}

let grown: { tasks: World["tasks"]; of: Map<string, TaskWithAttemptStatus[]> } | null = null;

function partsOf(world: World, attempts: readonly TaskAttempt[]): Card["parts"] {
  if (grown?.tasks !== world.tasks) {
    const of = new Map<string, TaskWithAttemptStatus[]>();
    for (const task of world.tasks.values()) {
      if (!task.parent_task_attempt) continue;
      const list = of.get(task.parent_task_attempt);
      if (list) list.push(task);
      else of.set(task.parent_task_attempt, [task]);
    }
    grown = { tasks: world.tasks, of };
  }
  if (grown.of.size === 0) return null;
  const parts = attempts.flatMap((attempt) => grown?.of.get(attempt.id) ?? []);
  if (parts.length === 0) return null;
  return {
    done: parts.filter((part) => part.status === "done" || part.status === "archived").length,
    all: parts.length,
  };
}

/** Two cards that look the same. */
export function sameCard(a: Card | undefined, b: Card | undefined): boolean {
  if (!a || !b) return a === b;
  return (
    a.task === b.task &&
    a.facts.state === b.facts.state &&
    a.facts.reason === b.facts.reason &&
    a.facts.since === b.facts.since &&
    a.facts.attempt === b.facts.attempt &&
    a.facts.ask === b.facts.ask &&
    a.project === b.project &&
    a.attempts === b.attempts &&
    a.partOf === b.partOf &&
    a.parts?.done === b.parts?.done &&
    a.parts?.all === b.parts?.all
  );
}

/** An agent is at it, or waits: taking the task elsewhere means to stop it. */
export const isLive = ({ facts }: Card) =>
  facts.attempt !== null && ["running", "waiting", "queued", "limited"].includes(facts.attempt.state);
