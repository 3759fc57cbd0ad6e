// The dialog of a task: a new one, a changed one, a copy, or a part of another.

import { useQuery } from "@tanstack/react-query";
import { get } from "../api/client";
import type { ImageResponse } from "../api/types";
import { useWorld, world } from "../api/world";
import { keyOf } from "../app/queries";
import { Dialog } from "../ui/Dialog";
import { Empty, Failed, Loading } from "../ui/Nothing";
import { NO_DRAFT, readDraft, type TaskDraft } from "./draft";
import { lastProject } from "./last-project";
import { TaskForm } from "./TaskForm";

type Props = {
  project: string | null;
  /** The task to change. */
  task?: string;
  /** The task to begin with the words of. */
  copy?: string;
  /** The attempt that the task becomes a part of. */
  parent?: string;
  onClose: () => void;
};

export function TaskDialog({ project, task, copy, parent, onClose }: Props) {
  const of = task ?? copy;
  const known = useWorld((world) => (of ? world.tasks.get(of) : undefined));
  const hasProject = useWorld((world) => world.projects.size > 0);
  const images = useQuery({
    queryKey: keyOf.project(known?.project_id ?? "", "images", of),
    queryFn: ({ signal }) => get<ImageResponse[]>(`/images/task/${of}`, signal),
    enabled: of !== undefined,
    staleTime: 0,
  });
  const title = task ? "Edit task" : parent ? "New subtask" : "New task";
  const draftKey = task ? `task.${task}` : parent ? `part.${parent}` : copy ? `copy.${copy}` : "new";

  const words = { title: known?.title ?? "", prompt: known?.description ?? "" };
  const begun = (): TaskDraft => {
    const kept = readDraft(draftKey);
    if (kept) return kept;
    if (!known) return NO_DRAFT;
    return {
      ...words,
      images: (images.data ?? []).map(({ id, original_name, file_path }) => ({
        id,
        name: original_name,
        path: file_path,
      })),
      basis: task ? words : undefined,
    };
  };
  const isLoading = of !== undefined && images.isLoading;
  return (
    <Dialog title={title} onClose={onClose}>
      {of && !known ? (
        <Empty>There is nothing here. It may have been deleted.</Empty>
      ) : isLoading ? (
        <Loading what="the task" />
      ) : images.error ? (
        <Failed what="The task is" error={images.error} again={() => void images.refetch()} />
      ) : !hasProject ? (
        <Empty>Add a project first: a task belongs to one.</Empty>
      ) : (
        <TaskForm
          project={project ?? known?.project_id ?? likelyProject()}
          task={task}
          words={task ? words : undefined}
          parent={parent}
          draftKey={draftKey}
          begun={begun()}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}

/** The project that a task made on the page of all projects is most likely for. */
function likelyProject(): string {
  const { projects } = world();
  const last = lastProject();
  return last && projects.has(last) ? last : (projects.keys().next().value ?? "");
}
