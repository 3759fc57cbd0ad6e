// What the trash shows of what was deleted: each thing that can be brought back by itself, and how long its files stay.

import type { RemovedEntry } from "../api/types";

const DAY = 24 * 60 * 60 * 1000;
/** Files that git ignores are in the trash only, and so long. Everything else stays until it is brought back. */
export const IGNORED_DAYS = 7;

export type Trashed = {
  entry: RemovedEntry;
  /** Until when the files that git ignores can come back as well; null when there are none to come back. */
  ignoredUntil: Date | null;
};

/** What went with something else comes back with it, so it is not offered by itself. */
export function trashOf(removed: readonly RemovedEntry[]): Trashed[] {
  const gone = new Set(removed.map(({ id }) => id));
  const isWithin = ({ kind, project_id, task_id }: RemovedEntry) =>
    (kind !== "project" && project_id !== null && gone.has(project_id)) ||
    (kind === "attempt" && task_id !== null && gone.has(task_id));
  return removed
    .filter((entry) => !isWithin(entry))
    .map((entry) => ({ entry, ignoredUntil: ignoredUntil(entry, removed) }));
}

function ignoredUntil(entry: RemovedEntry, removed: readonly RemovedEntry[]): Date | null {
  const times = removed
    .filter(({ id, project_id, task_id }) => [id, project_id, task_id].includes(entry.id))
    .filter(({ files }) => files === "trash")
    .map(({ removed_at }) => Date.parse(removed_at));
  return times.length > 0 ? new Date(Math.min(...times) + IGNORED_DAYS * DAY) : null;
}
