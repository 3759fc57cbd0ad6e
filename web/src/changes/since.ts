// What is new since the person last looked: from the last snapshot that they can have seen to the files as they are.

import type { AttemptSnapshot } from "../api/types";
import type { Scope } from "./store";

/** Null when they have seen nothing yet, or nothing has been done since. `snapshots` are the newest first. */
export function sinceLook(snapshots: readonly AttemptSnapshot[], look: string | null): Scope {
  if (look === null) return null;
  const turns = snapshots.filter(({ why }) => why === "turn");
  const seen = turns.findIndex(({ created_at }) => Date.parse(created_at) <= Date.parse(look));
  const last = turns[seen];
  if (!last || seen <= 0) return null;
  const isRebased = snapshots.slice(0, snapshots.indexOf(last)).some(({ why }) => why === "before a rebase");
  return { from: last.id, to: "now", ...(isRebased && { isRebased }) };
}
