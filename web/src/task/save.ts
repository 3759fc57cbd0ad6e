// What the task dialog sends.

import { newKey, post, put } from "../api/client";
import type { StartedTask, Task } from "../api/types";
import { rememberStart } from "../app/agents";
import { startAttempt } from "../app/task-acts";
import { profileOf } from "../facts/agents";
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

/** Saves a wish, or the changed words of a task. */
export async function saveTask(about: TaskWords, task?: string) {
  rememberProject(about.project);
  const { project_id, ...words } = bodyOf(about);
  return task ? put<Task>(`/tasks/${task}`, words) : post<Task>("/tasks", { project_id, ...words }, newKey());
}

/** Makes a task and starts an attempt with each profile. The first one decides whether there is a task at all. */
export async function startNew(about: TaskWords, profiles: readonly string[], base: string | null) {
  const [first, ...others] = profiles;
  if (!first) throw new Error("Choose an agent first.");
  rememberProject(about.project);
  const started = await post<StartedTask>(
    "/tasks/create-and-start",
    { task: bodyOf(about), executor_profile_id: profileOf(first), base_branch: base },
    newKey(),
  );
  for (const profile of others) await startAttempt(started.id, profile, base);
  rememberStart(about.project, first, base);
}
