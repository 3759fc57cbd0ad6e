// Answering from the inbox. A reason that was begun on the attempt's page goes with a Deny here, too, as it does there.

import type { Approval } from "../api/types";
import { type Answering, useAnswer } from "../ui/answer";
import { begunOf } from "../ui/begun";

/** The reason that somebody began to write for a Deny. */
export const reasonOf = (ask: Approval) => begunOf<string>(ask.approval_id, "why")?.trim() || null;

export function withReason(answer: Answering["answer"], ask: Approval | null): Answering["answer"] {
  return (approved, more = {}) => {
    // Asked when it is answered: it may be another one than when the page was drawn.
    const reason = ask && !approved ? reasonOf(ask) : null;
    answer(approved, reason ? { reason, ...more } : more);
  };
}

export function useAnswerHere(ask: Approval | null): Answering {
  const answering = useAnswer(ask);
  return { ...answering, answer: withReason(answering.answer, ask) };
}
