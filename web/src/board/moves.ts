// What it means to take a task to another column. The pointer, the keys and the menu all ask here.

import type { ColumnId } from "../facts/state";
import { type Card, isLive } from "./cards";

export type Meaning =
  /** It is there already. */
  | { kind: "nothing" }
  | { kind: "refused"; why: string }
  | { kind: "move" }
  | { kind: "start" }
  /** To work on means to tell the agent what: the attempt's composer. */
  | { kind: "reply"; attempt: string }
  | { kind: "ask stop"; attempt: string }
  /** Marking done what did not land. */
  | { kind: "ask done"; attempt: string | null; files: number | null };

export function meaningOf(card: Card, to: ColumnId): Meaning {
  const { task, facts } = card;
  const { attempt } = facts;
  if (task.status === to) return { kind: "nothing" };
  if (to === "inprogress") {
    if (isLive(card)) return { kind: "move" };
    return task.status === "todo" || !attempt ? { kind: "start" } : { kind: "reply", attempt: attempt.id };
  }
  if (to === "inreview" && !attempt) return { kind: "refused", why: "Nothing to review yet." };
  if (attempt && isLive(card)) return { kind: "ask stop", attempt: attempt.id };
  if (to === "done" && !attempt) return { kind: "ask done", attempt: null, files: null };
  if (to === "done" && attempt && !attempt.is_merged && attempt.files_changed !== 0)
    return { kind: "ask done", attempt: attempt.id, files: attempt.files_changed ?? null };
  return { kind: "move" };
}
