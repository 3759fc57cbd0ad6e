// How an agent that stands still is sent on: the word of the button, and what the agent is told.

import { canSteer } from "./agents";
import type { State } from "./state";

export type GoingOn = { words: string; busy: string; prompt: string };

const ON = "Go on where you stopped.";

const WAYS: Partial<Record<State, GoingOn>> = {
  stalled: { words: "Nudge", busy: "Nudging", prompt: "Go on, or say what you wait for." },
  limited: { words: "Resume now", busy: "Resuming", prompt: ON },
  failed: { words: "Retry", busy: "Retrying", prompt: ON },
  stopped: { words: "Continue", busy: "Continuing", prompt: ON },
};

/** None where it would do nothing: an agent that is silent in its turn and hears nothing before its end. */
export const goingOn = (state: State, executor: string): GoingOn | null =>
  state === "stalled" && !canSteer(executor) ? null : (WAYS[state] ?? null);
