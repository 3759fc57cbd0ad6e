// Putting something of the inbox away: at once on the page, then on the server, with an undo.

import { post } from "../api/client";
import { assume, world } from "../api/world";
import { actOn } from "../app/acting";
import { say } from "../app/notices";
import type { InboxItem } from "../facts/inbox";

type Body = { until?: string; undo?: boolean };

/** Puts an item away until something new happens, or until a time. */
export async function putAway(item: InboxItem, until: Date | null) {
  const isPutAway = until
    ? await change(item.attempt.id, { until: until.toISOString() })
    : await change(item.attempt.id, {});
  if (!isPutAway) return;
  const words = until ? `Later: ${item.title}` : `Dismissed: ${item.title}`;
  say(words, { undo: () => void change(item.attempt.id, { undo: true }) });
}

async function change(id: string, body: Body) {
  const attempt = world().attempts.get(id);
  if (!attempt) return false;
  const back = assume("attempts", id, {
    ...attempt,
    dismissed_at: body.undo ? null : new Date().toISOString(),
    later_until: body.undo ? null : (body.until ?? null),
  });
  const done = await actOn(id, null, async () => {
    try {
      await post(`/task-attempts/${id}/dismiss`, body);
      return true;
    } catch (error) {
      back();
      throw error;
    }
  });
  return done === true;
}
