// Putting an attempt's files back to what a snapshot holds; the present is kept first, so it can be undone.

import { post } from "../../api/client";
import type { FilesRestored } from "../../api/types";
import { say, sayError } from "../../app/notices";
import { keyOf, queries } from "../../app/queries";
import { counted } from "../../ui/numbers";

/** Restores a snapshot, and offers to undo it. */
export async function restore(attempt: string, snapshot: string) {
  const done = await post<FilesRestored>(`/task-attempts/${attempt}/restore`, { snapshot_id: snapshot });
  void queries.invalidateQueries({ queryKey: keyOf.attempt(attempt) });
  const files = done.written.length + done.removed.length;
  const alone =
    done.left_alone.length > 0 ? ` ${counted(done.left_alone.length, "file")} left as they are.` : "";
  say(files === 0 ? "The files were like that already." : `${counted(files, "file")} put back.${alone}`, {
    undo: () => void restore(attempt, done.undo_snapshot_id).catch(sayError),
  });
}
