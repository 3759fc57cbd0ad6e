// The ways in which a message goes to an agent: now, when its turn ends, or in the place of one that waits. One that is
// taken out of the queue on its way is the attempt's draft meanwhile, so that no refusal and no outage loses it.

import { get, post, postOnce, put, Refused, remove } from "../../api/client";
import type { ChangeQueued, DraftResponse, FollowUpProcess, QueuedFollowUp } from "../../api/types";

export type Message = {
  prompt: string;
  variant: string | null;
  image_ids: readonly string[];
  /** The review comments that it takes along. */
  comment_ids?: readonly string[];
};

const body = ({ prompt, variant, image_ids, comment_ids = [] }: Message) => ({
  prompt,
  ...(variant ? { variant } : {}),
  ...(image_ids.length > 0 ? { image_ids } : {}),
  ...(comment_ids.length > 0 ? { comment_ids } : {}),
});

/** Tells the agent: at once where it can listen, else as the server answers. */
export const tell = (attempt: string, message: Message) =>
  postOnce<FollowUpProcess>(`/task-attempts/${attempt}/follow-up`, body(message));

const draftOf = (attempt: string) => `/task-attempts/${attempt}/draft?type=follow_up`;

export const readDraft = (attempt: string) => get<DraftResponse>(draftOf(attempt));

/** The last time that each attempt's draft was written. */
const writes = new Map<string, Promise<unknown>>();

/** Writes the draft when what was written before is there: one that came too late would bring back what was sent. */
export function writeDraft(attempt: string, { prompt, variant, image_ids }: Message) {
  const write = () =>
    put<DraftResponse>(draftOf(attempt), { prompt, image_ids, ...(variant ? { variant } : {}) });
  const written = (writes.get(attempt) ?? Promise.resolve()).then(write, write);
  writes.set(attempt, written);
  return written;
}

/**
 * Puts the draft at the end of the queue. A queue that stands still goes on with it, from its beginning. A `prompt` is
 * what is queued, whatever was written into the draft meanwhile.
 */
const queueDraft = (attempt: string, prompt?: string) =>
  post<DraftResponse>(`/task-attempts/${attempt}/draft/queue?type=follow_up`, { queued: true, prompt });

/**
 * Puts a message at the end of the queue. The first one goes in as the attempt's draft, which is how an agent that could
 * listen now is made to wait; behind something that waits, a message waits by itself.
 */
export async function queue(attempt: string, message: Message, waiting: number) {
  if (waiting > 0) return void (await tell(attempt, message));
  await writeDraft(attempt, message);
  await queueDraft(attempt, message.prompt);
  await takenAlong(attempt, message);
}

/** Comments go with a message; with a draft that is one, they are said to have gone. */
async function takenAlong(attempt: string, { comment_ids = [] }: Message) {
  if (comment_ids.length > 0) await post(`/task-attempts/${attempt}/comments/sent`, { ids: comment_ids });
}

const queueOf = (attempt: string) => `/task-attempts/${attempt}/queue`;
const item = (attempt: string, id: string) => `${queueOf(attempt)}/${id}`;

export const readQueue = (attempt: string, signal?: AbortSignal) =>
  get<QueuedFollowUp[]>(queueOf(attempt), signal);

export const changeQueued = (attempt: string, id: string, change: ChangeQueued) =>
  put<QueuedFollowUp[]>(item(attempt, id), change);

export const withdraw = (attempt: string, id: string) => remove<QueuedFollowUp[]>(item(attempt, id));

export const messageOf = ({ prompt, variant, image_ids, comment_ids }: QueuedFollowUp): Message => ({
  prompt,
  variant,
  image_ids: image_ids ?? [],
  comment_ids,
});

const NOTHING: Message = { prompt: "", variant: null, image_ids: [] };

/** Takes something out of the queue and makes it the draft. */
async function takeInHand(attempt: string, id: string, message: Message) {
  await writeDraft(attempt, message);
  try {
    await withdraw(attempt, id);
  } catch (error) {
    // The queue has it still, or it was sent. When nobody knows, the draft stays.
    if (error instanceof Refused && !error.isAway) await writeDraft(attempt, NOTHING);
    throw error;
  }
}

/** Sends the only message that waits, now. One that is refused waits again. */
export async function sendNow(attempt: string, queued: QueuedFollowUp) {
  const message = messageOf(queued);
  // A draft that is queued is what waits: it is a draft again when it is withdrawn.
  if ((await readDraft(attempt)).queued) await withdraw(attempt, queued.id);
  else await takeInHand(attempt, queued.id, { ...message, variant: null });
  try {
    await tell(attempt, message);
  } catch (error) {
    // Where that is refused, too, it stays the draft.
    await queue(attempt, message, 0).catch(() => {});
    throw error;
  }
  await writeDraft(attempt, NOTHING);
}

/** Lets a queue that stands still go on, in its order. */
export async function goOn(attempt: string, waiting: readonly QueuedFollowUp[]) {
  const last = waiting.at(-1);
  if (!last) return;
  const isDraft = (await readDraft(attempt)).queued;
  if (!isDraft) await takeInHand(attempt, last.id, messageOf(last));
  await queueDraft(attempt);
  if (!isDraft) await takenAlong(attempt, messageOf(last));
}

/** Puts a message that was taken back into the queue again, at its place, and answers the queue. */
export async function putBack(attempt: string, { position, ...queued }: QueuedFollowUp) {
  const before = new Set((await readQueue(attempt)).map(({ id }) => id));
  const { queued: isQueued } = await readDraft(attempt);
  await queue(attempt, messageOf({ position, ...queued }), isQueued ? before.size : 0);
  const after = await readQueue(attempt);
  const back = after.findLast(({ id }) => !before.has(id));
  return back && back.position > position ? changeQueued(attempt, back.id, { position }) : after;
}
