// Waiting for a condition, with a deadline.

import { setTimeout as pause } from "node:timers/promises";

/** How long a condition may take: programs that take seconds to start take long on a busy machine. */
export const SOON_MS = 110_000;

/** Calls `look` until it gives something, and returns that. */
export async function eventually(what, look, deadlineMs = SOON_MS) {
  const begun = Date.now();
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() - begun > deadlineMs) throw new Error(`${what}: not within ${deadlineMs / 1000} s`);
    await pause(25);
  }
}

/** Lets `work` take no longer than that. */
export async function within(what, deadlineMs, work) {
  const stop = new AbortController();
  const late = pause(deadlineMs, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`${what}: not within ${deadlineMs / 1000} s`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    stop.abort();
    late.catch(() => {});
  }
}
