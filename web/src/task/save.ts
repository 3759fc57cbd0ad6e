// What the task dialog sends, and what it says then.

import { postOnce, put, sentenceOf } from "../api/client";
import type { StartedTask, Task } from "../api/types";
import { rememberStart, rememberWish } from "../app/agents";
import { say, sayError } from "../app/notices";
import { startAttempt, wayTo } from "../app/task-acts";
import { profileInFull, profileOf } from "../facts/agents";
import { rememberProject } from "./last-project";

export type TaskWords = {
  project: string;
  title: string;
  prompt: string;
  images: ReadonlyArray<{ id: string }>;
  parent?: string;
};

const bodyOf = ({ project, title, prompt, images, parent }: TaskWords) => ({
  project_id: project,
  title,
  description: prompt,
  image_ids: images.map(({ id }) => id),
  ...(parent ? { parent_task_attempt: parent } : {}),
});

/** Saves the changed words of a task. */
export async function saveTask(about: TaskWords, task: string) {
  rememberProject(about.project);
  const { project_id, ...words } = bodyOf(about);
  return put<Task>(`/tasks/${task}`, words);
}

/** Saves a wish. What was chosen for its start is kept here: the server knows of agents only when one is started. */
export async function saveWish(about: TaskWords, profile: string | undefined, base: string | undefined) {
  rememberProject(about.project);
  const task = await postOnce<Task>("/tasks", bodyOf(about));
  rememberWish(task.id, profile, base);
}

export type NotStarted = { profile: string; why: string };
/** The first attempt, and which of the others there are not. */
export type Started = { attempt: string; refused: readonly NotStarted[] };

/**
 * Makes a task and starts an attempt with each profile. The first one decides whether there is a task at all; which of
 * the others could not be started is in the answer. With `memory` each branches off that attempt's conversation.
 */
export async function startNew(
  about: TaskWords,
  profiles: readonly string[],
  base: string | null,
  memory?: string,
): Promise<Started> {
  const [first, ...others] = profiles;
  if (!first) throw new Error("Choose an agent first.");
  rememberProject(about.project);
  const started = await postOnce<StartedTask>("/tasks/create-and-start", {
    task: bodyOf(about),
    executor_profile_id: profileOf(first),
    base_branch: base,
    fork_from: memory,
  });
  const refused: NotStarted[] = [];
  for (const profile of others)
    await startAttempt(started.id, profile, base, memory).catch((error) =>
      refused.push({ profile, why: sentenceOf(error) }),
    );
  if (!memory) rememberStart(about.project, first, base);
  return { attempt: started.attempt_id, refused };
}

/** Says what was started, and what was not although the task is there now. */
export function sayStarted(agents: readonly string[], { attempt, refused }: Started) {
  if (refused.length > 0) {
    const whys = refused.map(
      ({ profile, why }) => `${profileInFull(profileOf(profile))} was not started: ${why}`,
    );
    sayError(`Started ${agents.length - refused.length} of ${agents.length} attempts. ${whys.join(" ")}`);
  } else if (agents.length > 1) say(`Started ${agents.length} attempts.`, wayTo(attempt));
  else say(`Started with ${profileInFull(profileOf(agents[0] ?? ""))}.`, wayTo(attempt));
}
