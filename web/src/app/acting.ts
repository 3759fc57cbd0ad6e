// What is being done to a task right now, and what did not work, so that it can stand on its card and beside its
// button on whichever page shows it.

import { useSyncExternalStore } from "react";
import { sentenceOf } from "../api/client";
import { sayError } from "./notices";

export type Acting = { busy: string | null; problem: string | null };

/** What did not happen, by the word of what was going on. */
const NOT: Record<string, string> = {
  Starting: "Not started",
  Stopping: "Not stopped",
  Deleting: "Not deleted",
  Nudging: "Not sent",
  Resuming: "Not resumed",
  Retrying: "Not tried again",
  Continuing: "Not continued",
};

const NOTHING: Acting = { busy: null, problem: null };
const all = new Map<string, Acting>();
/** What is under way and has a word, by task. */
const underWay = new Map<string, Promise<unknown>>();
const watchers = new Set<() => void>();

function note(id: string, acting: Acting) {
  if (acting.busy || acting.problem) all.set(id, acting);
  else all.delete(id);
  for (const changed of watchers) changed();
}

/**
 * Does something to a task under its word ("Starting"). What is refused is said and stays with the task. Whoever asks
 * for what is under way already gets that one; anything else has to wait, and is told so.
 */
export function actOn<T>(id: string, busy: string | null, act: () => Promise<T>): Promise<T | undefined> {
  const word = all.get(id)?.busy;
  if (word && word === busy) return underWay.get(id) as Promise<T | undefined>;
  if (word) {
    refuse(id, word, `Not done: it is ${word.toLowerCase()} just now.`);
    return Promise.resolve(undefined);
  }
  const acting = begin(id, busy, act);
  if (busy) underWay.set(id, acting);
  return acting;
}

async function begin<T>(id: string, busy: string | null, act: () => Promise<T>): Promise<T | undefined> {
  note(id, { busy, problem: null });
  try {
    const done = await act();
    note(id, NOTHING);
    return done;
  } catch (error) {
    const not = busy ? NOT[busy] : undefined;
    refuse(id, null, not ? `${not}: ${sentenceOf(error)}` : sentenceOf(error));
    return undefined;
  }
}

function refuse(id: string, busy: string | null, problem: string) {
  note(id, { busy, problem });
  sayError(new Error(problem));
}

/** The person has read it. What is under way goes on. */
export const forgetProblem = (id: string) => note(id, { busy: all.get(id)?.busy ?? null, problem: null });

export const useActing = (id: string): Acting =>
  useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
    () => all.get(id) ?? NOTHING,
  );
