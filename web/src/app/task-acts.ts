// What can be done to a task from any page: start, stop, go on, move, delete, each with its undo. What is moved is
// shown at once; what runs or removes something is shown when the server has done it.

import { navigate } from "wouter/use-browser-location";
import { get, post, postOnce, put, remove, sentenceOf } from "../api/client";
import type {
  FollowUpProcess,
  RemovedEntry,
  TaskAttempt,
  TaskStatus,
  TaskWithAttemptStatus,
} from "../api/types";
import { assume, world } from "../api/world";
import { agentWord, profileInFull, profileOf } from "../facts/agents";
import type { GoingOn } from "../facts/going-on";
import { type ColumnId, columnWords } from "../facts/state";
import { counted } from "../ui/numbers";
import { actOn } from "./acting";
import type { ActionId } from "./actions";
import { forgetWish, likelyBase, readyProfile, rememberStart } from "./agents";
import { offered } from "./keys";
import { say, sayError } from "./notices";
import { openOverlay } from "./overlays";

/** Starts an attempt with what the wish was saved with or the project was last started with, or asks with what. */
export function startTask(id: string) {
  const task = world().tasks.get(id);
  if (!task) return;
  const before = task.status;
  void actOn(id, "Starting", async () => {
    const profile = await readyProfile(task.project_id, id);
    if (!profile) return openOverlay({ name: "start", task: id });
    const attempt = await startAttempt(id, profile, likelyBase(task.project_id, id));
    say(`Started with ${profileInFull(profileOf(profile))}.`, {
      ...wayTo(attempt.id),
      undo: () => takeBack(id, attempt.id, before),
    });
  });
}

/** Starts one attempt, and remembers with what, unless it branches off the conversation of another. */
export async function startAttempt(task: string, profile: string, base: string | null, memory?: string) {
  const attempt = await postOnce<TaskAttempt>("/task-attempts", {
    task_id: task,
    executor_profile_id: profileOf(profile),
    base_branch: base,
    fork_from: memory,
  });
  if (!memory) rememberStart(attempt.project_id, profile, base);
  forgetWish(task);
  return attempt;
}

/** What a notice of a start offers: the way to the attempt, unless the person is there. */
export const wayTo = (attempt: string) =>
  location.pathname === `/a/${attempt}` ? {} : { action: { words: "Open", run: () => openAttempt(attempt) } };

const takeBack = (task: string, attempt: string, status: TaskStatus) =>
  void actOn(task, "Stopping", async () => {
    await post(`/task-attempts/${attempt}/stop`);
    await put(`/tasks/${task}`, { status });
  });

export const stopAttempt = (task: string, attempt: string) =>
  actOn(task, "Stopping", async () => {
    await post(`/task-attempts/${attempt}/stop`);
    return true;
  });

/** Lets an agent that has stopped, failed or gone quiet go on; `id` is what shows that, a task or an attempt. */
export const goOn = (id: string, attempt: TaskAttempt, { busy, prompt }: GoingOn) =>
  void actOn(id, busy, async () => {
    const way = `/task-attempts/${attempt.id}/follow-up`;
    const { delivered } = await postOnce<FollowUpProcess>(way, { prompt });
    // What waits already comes first.
    if (delivered === "queued") say(`${agentWord(attempt.executor)} hears it when this turn ends.`);
  });

/** Puts a task into another column, and says so with an undo. */
export function moveTask(id: string, to: ColumnId, isUndo = false) {
  const task = world().tasks.get(id);
  if (!task) return;
  const from = task.status;
  void actOn(id, null, () => change(task, { status: to }, { status: to })).then((done) => {
    if (done && !isUndo)
      say(to === "archived" ? "Archived." : `Moved to ${columnWords(to)}.`, {
        undo: from === "agent" ? undefined : () => moveTask(id, from, true),
      });
  });
}

/** Several at once, with one word and one undo. */
export async function moveTasks(ids: readonly string[], to: ColumnId) {
  const before = ids.flatMap((id) => world().tasks.get(id) ?? []);
  const moved = await Promise.all(
    before.map((task) => actOn(task.id, null, () => change(task, { status: to }, { status: to }))),
  );
  const count = moved.filter(Boolean).length;
  if (count > 0)
    say(`${count} moved to ${columnWords(to)}.`, {
      undo: () => {
        for (const task of before) if (task.status !== "agent") moveTask(task.id, task.status, true);
      },
    });
}

/** Shows a task as it will be and tells the server, whose refusal takes it back. */
function change(task: TaskWithAttemptStatus, shown: Partial<TaskWithAttemptStatus>, told: object) {
  const takeBack = assume("tasks", task.id, { ...task, ...shown });
  return put(`/tasks/${task.id}`, told).catch((error: unknown) => {
    takeBack();
    throw error;
  });
}

/** Moves a task to the trash; undo brings it back with everything that went with it. */
export const deleteTask = (id: string) =>
  actOn(id, "Deleting", async () => {
    await remove(`/tasks/${id}`);
    say("Task moved to the trash.", { undo: () => void recover(id) });
    return true;
  });

/** Several at once, with one word and one undo. */
export async function deleteTasks(ids: readonly string[]) {
  const gone = await actOnAll(ids, "Deleting", "deleted", (id) => remove(`/tasks/${id}`));
  if (gone.length > 0)
    say(`${counted(gone.length, "task is", "tasks are")} gone.`, {
      // Backwards: a part of a task comes back to what it was a part of when it went.
      undo: () => void actOnAll(gone.toReversed(), "Bringing back", "brought back", bringBack),
    });
}

/**
 * Does the same to several tasks, one after the other, and tells in one sentence what was refused. The answer is those
 * it was done to.
 */
async function actOnAll(
  ids: readonly string[],
  busy: string,
  done: string,
  act: (id: string) => Promise<unknown>,
): Promise<readonly string[]> {
  const isDone: string[] = [];
  const whys: string[] = [];
  for (const id of ids) {
    const refuse = (error: unknown) => void whys.push(sentenceOf(error));
    await actOn(id, busy, () => act(id).then(() => void isDone.push(id), refuse));
  }
  if (whys.length > 0)
    sayError(
      new Error(
        `${counted(whys.length, "task was", "tasks were")} not ${done}: ${[...new Set(whys)].join(" ")}`,
      ),
    );
  return isDone;
}

const recover = (task: string) => actOn(task, "Bringing back", () => bringBack(task));

async function bringBack(task: string) {
  const removed = await get<RemovedEntry[]>("/removed");
  const entry = removed.find((it) => it.kind === "task" && (it.task_id === task || it.id === task));
  if (!entry) throw new Error("The task is no longer in the trash.");
  await post(`/removed/${entry.id}/recover`);
}

/** Opens an attempt and does something there, as soon as the page can. */
export function openAttempt(id: string, then?: ActionId) {
  const before = document.activeElement;
  // A phone shows one thing at a time, and only what is shown can be done.
  navigate(then === "land" ? `/a/${id}?tab=land` : `/a/${id}`);
  if (!then) return;
  const deadline = performance.now() + 10_000;
  const look = () => {
    if (location.pathname !== `/a/${id}` || performance.now() > deadline) return;
    const action = offered().find((it) => it.id === then);
    action?.run();
    // To go to a place may be tried until it is reached: a page that is still being drawn offers what it cannot do.
    const now = document.activeElement;
    const isReached = now !== document.body && now !== before;
    if (!action || (then === "reply" && !isReached)) setTimeout(look, 50);
  };
  requestAnimationFrame(look);
}

/** Puts a wish above another one, or at the end. */
export function placeTask(id: string, before: string | null) {
  const task = world().tasks.get(id);
  if (!task) return;
  void actOn(id, null, () => change(task, { position: placeAbove(id, before) }, { position: { before } }));
}

/** A number for the place above a task, until the server has told its own. */
function placeAbove(id: string, before: string | null): number {
  const places = [...world().tasks.values()]
    .filter((task) => task.id !== id && task.status === "todo")
    .map((task) => task.position)
    .sort((a, b) => a - b);
  const below = before ? world().tasks.get(before)?.position : undefined;
  if (below === undefined) return (places.at(-1) ?? 0) + 1;
  const above = places.findLast((place) => place < below);
  return above === undefined ? below - 1 : (above + below) / 2;
}
