// Where a conversation opens: at the question, at the top of what is new, where the person was, or at the end.

import type { TaskAttempt } from "../../api/types";
import type { Row } from "./rows";
import { rowOf } from "./rows";

export type Place = "end" | { row: number; align: "start" | "center" };

/** By attempt: the row that stood at the top when it was last looked at; null is the end. */
const places = new Map<string, string | null>();

export const remember = (attempt: string, key: string | null) => void places.set(attempt, key);

export function openingPlace(
  attempt: Pick<TaskAttempt, "id" | "state" | "seen_at" | "state_since">,
  rows: readonly Row[],
  entry: string | null,
  hasAsk: boolean,
): Place {
  const at = (key: string | null | undefined) => (key ? rowOf(rows, key) : -1);
  const linked = at(entry);
  if (linked >= 0) return { row: linked, align: "center" };
  if (hasAsk) {
    const asked = rows.findIndex(
      (row) =>
        row.kind === "entry" &&
        row.placed.entry.entry_type.type === "tool_use" &&
        row.placed.entry.entry_type.status.status === "pending_approval",
    );
    return asked < 0 || asked === rows.length - 1 ? "end" : { row: asked, align: "center" };
  }
  const isOver = attempt.state === "finished" || attempt.state === "failed" || attempt.state === "stopped";
  if (!isOver) return "end";
  const isSeen = attempt.seen_at != null && attempt.seen_at >= attempt.state_since;
  if (isSeen && places.has(attempt.id)) {
    const was = at(places.get(attempt.id));
    return was >= 0 ? { row: was, align: "start" } : "end";
  }
  if (!isSeen) {
    const last = rows.findLastIndex(
      (row) => row.kind === "entry" && row.placed.entry.entry_type.type === "assistant_message",
    );
    // Only a message that is long itself has a top worth beginning at.
    const row = rows[last];
    if (row?.kind === "entry" && row.placed.entry.content.length > 600) return { row: last, align: "start" };
  }
  return "end";
}
