// The ways in which a message goes to an agent: now, when its turn ends, or in the place of one that waits.

import { newKey, post, put, remove } from "../../api/client";
import type { ChangeQueued, DraftResponse, FollowUpProcess, QueuedFollowUp } from "../../api/types";

export type Message = { prompt: string; variant: string | null; image_ids: readonly string[] };

const body = ({ prompt, variant, image_ids }: Message) => ({
  prompt,
  ...(variant ? { variant } : {}),
  ...(image_ids.length > 0 ? { image_ids } : {}),
});

/** Tells the agent: at once where it can listen, else as the server answers. */
export const tell = (attempt: string, message: Message) =>
  post<FollowUpProcess>(`/task-attempts/${attempt}/follow-up`, body(message), newKey());

/**
 * Puts a message at the end of the queue. The first one goes in as the attempt's draft, which is how an agent that could
 * listen now is made to wait; behind something that waits, a message waits by itself.
 */
export async function queue(attempt: string, message: Message, waiting: number) {
  if (waiting > 0) return void (await tell(attempt, message));
  await put<DraftResponse>(`/task-attempts/${attempt}/draft?type=follow_up`, body(message));
  await post<DraftResponse>(
    `/task-attempts/${attempt}/draft/queue?type=follow_up`,
    { queued: true },
    newKey(),
  );
}

const item = (attempt: string, id: string) => `/task-attempts/${attempt}/queue/${id}`;

export const changeQueued = (attempt: string, id: string, change: ChangeQueued) =>
  put<QueuedFollowUp[]>(item(attempt, id), change);

export const withdraw = (attempt: string, id: string) => remove<QueuedFollowUp[]>(item(attempt, id));

const messageOf = ({ prompt, variant, image_ids }: QueuedFollowUp): Message => ({
  prompt,
  variant,
  image_ids: image_ids ?? [],
});

/** Sends the only message that waits, now. */
export async function sendNow(attempt: string, queued: QueuedFollowUp) {
  await withdraw(attempt, queued.id);
  return tell(attempt, messageOf(queued));
}

/** Lets a queue that stands still go on: its last message is told anew, and the ones before it go first. */
export async function goOn(attempt: string, waiting: readonly QueuedFollowUp[]) {
  const last = waiting.at(-1);
  if (last) await sendNow(attempt, last);
}
