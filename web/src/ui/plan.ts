// A plan that waits for its answer, as the person left it: changed on one page, it is the same on every other.

import type { Approval } from "../api/types";
import { useBegun } from "./begun";

export function usePlan(ask: Approval) {
  const plan = planOf(ask.input) ?? ask.text;
  const [edited, setEdited, isFresh] = useBegun<string | null>(ask.approval_id, "plan", () => null);
  const isEdited = edited !== null && edited.trim() !== plan.trim();
  return {
    plan,
    /** The changed text; null while nobody changes it. */
    edited,
    setEdited,
    isEdited,
    isFresh,
    /** What goes with a yes. */
    words: isEdited ? { text: edited } : {},
  };
}

function planOf(input: unknown): string | null {
  const plan = (input as { plan?: unknown } | null)?.plan;
  return typeof plan === "string" && plan.trim() !== "" ? plan : null;
}
