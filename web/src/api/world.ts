// Everything the board knows: projects, tasks, attempts, runs, asks and drafts, by id, as the server last told them.
// This is the one place where the server's events touch what is shown. Components read it with `useWorld`.

import { useRef, useSyncExternalStore } from "react";
import { get } from "./client";
import { live } from "./live";
import type {
  Approval,
  Board,
  Draft,
  ExecutionProcess,
  PatchOpThing,
  Project,
  TaskAttempt,
  TaskWithAttemptStatus,
} from "./types";

export type World = {
  /** Grows with every change; equal numbers mean equal worlds. */
  readonly version: number;
  /** False until the first answer has come: then "none" means none, before it means unknown. */
  readonly isKnown: boolean;
  /** Why the first answer did not come. */
  readonly problem: Error | null;
  /** The newest event that is in here. */
  readonly position: number;
  readonly projects: ReadonlyMap<string, Project>;
  readonly tasks: ReadonlyMap<string, TaskWithAttemptStatus>;
  readonly attempts: ReadonlyMap<string, TaskAttempt>;
  /** Only runs that changed since the page was opened; lists of an attempt's runs are asked for. */
  readonly runs: ReadonlyMap<string, ExecutionProcess>;
  readonly asks: ReadonlyMap<string, Approval>;
  readonly drafts: ReadonlyMap<string, Draft>;
};

/** The maps of a world that events name, by the first word of their path. */
const MAPS = {
  projects: "projects",
  tasks: "tasks",
  task_attempts: "attempts",
  execution_processes: "runs",
  approvals: "asks",
  drafts: "drafts",
} as const;

type MapName = (typeof MAPS)[keyof typeof MAPS];
type Maps = { [name in MapName]: Map<string, unknown> };

const emptyMaps = (): Maps => ({
  projects: new Map(),
  tasks: new Map(),
  attempts: new Map(),
  runs: new Map(),
  asks: new Map(),
  drafts: new Map(),
});

let maps = emptyMaps();
let current = worldOf({ version: 0, isKnown: false, problem: null, position: 0 });
const watchers = new Set<() => void>();
const hearers = new Set<(operations: readonly PatchOpThing[]) => void>();
let isTold = true;

function worldOf(about: Pick<World, "version" | "isKnown" | "problem" | "position">): World {
  return { ...about, ...maps } as World;
}

/** The world as it is now, for handlers; what is drawn uses `useWorld`. */
export const world = () => current;

/** Begins to follow the server; called once, by `main.ts`. */
export function startWorld() {
  void begin();
  live.watch(() => {
    if (live.connection.state === "online" && current.problem) void begin();
  });
}

let isFollowed = false;

/** Fetches everything, and follows what happens from there on: between the two nothing is missed. */
export async function begin() {
  await load();
  if (isFollowed || !current.isKnown) return;
  isFollowed = true;
  live.follow("events", {
    after: current.position,
    message(message) {
      if ("resync" in message) void load();
      else if ("value" in message) apply(message.value as PatchOpThing[], message.position);
    },
  });
}

let loading: Promise<void> | null = null;
/** What was told while an answer was on its way, which may be older than that. */
let meanwhile: Array<{ operations: readonly PatchOpThing[]; position: number }> | null = null;

/** Fetches everything anew, once however many ask. */
function load(): Promise<void> {
  loading ??= fetchAll().finally(() => {
    loading = null;
  });
  return loading;
}

async function fetchAll() {
  meanwhile = [];
  try {
    const board = await get<Board>("/board");
    maps = emptyMaps();
    for (const project of board.projects) maps.projects.set(project.id, project);
    for (const task of board.tasks) maps.tasks.set(task.id, task);
    for (const attempt of board.attempts) maps.attempts.set(attempt.id, attempt);
    for (const ask of board.approvals) maps.asks.set(ask.approval_id, ask);
    for (const told of meanwhile) if (told.position > board.position) merge(told.operations);
    change({ isKnown: true, problem: null, position: Math.max(current.position, board.position) });
  } catch (error) {
    change({ problem: error instanceof Error ? error : new Error(String(error)) });
  } finally {
    meanwhile = null;
  }
}

/** Applies the server's operations. Exported for its tests and for answers that carry the newest form of a thing. */
export function apply(operations: readonly PatchOpThing[], position: number) {
  merge(operations);
  meanwhile?.push({ operations, position });
  change({ position });
  if (operations.length > 0) for (const hear of hearers) hear(operations);
}

function merge(operations: readonly PatchOpThing[]) {
  const copied = new Set<MapName>();
  for (const { op, path, value } of operations) {
    const [, kind, ...rest] = path.split("/");
    const name = MAPS[kind as keyof typeof MAPS];
    if (!name) continue;
    if (!copied.has(name)) {
      maps = { ...maps, [name]: new Map(maps[name]) };
      copied.add(name);
    }
    const id = rest.join("/");
    if (op === "remove") maps[name].delete(id);
    else maps[name].set(id, value);
  }
}

/** Puts the newest form of one thing where it belongs, ahead of its event: for optimistic changes. */
export function assume(name: MapName, id: string, value: unknown): () => void {
  const before = maps[name].get(id);
  set(name, id, value);
  return () => {
    // Only what is still ours is taken back: an event that came meanwhile wins.
    if (maps[name].get(id) === value) set(name, id, before);
  };
}

/** Calls back with every batch of operations, for what must notice a change rather than draw a state. */
export function hear(callback: (operations: readonly PatchOpThing[]) => void) {
  hearers.add(callback);
  return () => void hearers.delete(callback);
}

function set(name: MapName, id: string, value: unknown) {
  const copy = new Map(maps[name]);
  if (value === undefined) copy.delete(id);
  else copy.set(id, value);
  maps = { ...maps, [name]: copy };
  change({});
}

function change(about: Partial<Pick<World, "isKnown" | "problem" | "position">>) {
  const { version, isKnown, problem, position } = current;
  current = worldOf({ version: version + 1, isKnown, problem, position, ...about });
  if (!isTold) return;
  isTold = false;
  // However many events come, the page is drawn once a frame; a hidden tab gets no frames, but stays right.
  const tell = () => {
    if (isTold) return;
    isTold = true;
    document.documentElement.dataset.seq = String(current.position);
    for (const changed of watchers) changed();
  };
  if (document.hidden) setTimeout(tell, 0);
  else requestAnimationFrame(tell);
}

function subscribe(changed: () => void) {
  watchers.add(changed);
  return () => void watchers.delete(changed);
}

/** Reads a part of the world, and draws again when that part is another one (by `Object.is`, or by `same`). */
export function useWorld<T>(select: (world: World) => T, same: (a: T, b: T) => boolean = Object.is): T {
  const last = useRef<{ value: T } | null>(null);
  return useSyncExternalStore(subscribe, () => {
    const value = select(current);
    if (last.current && same(last.current.value, value)) return last.current.value;
    last.current = { value };
    return value;
  });
}

/** Two lists with the same members in the same order. */
export function sameList<T>(a: readonly T[], b: readonly T[]) {
  return a.length === b.length && a.every((member, index) => Object.is(member, b[index]));
}
