// A part of a task that begins with what the agent of the whole knows: its conversation is branched off, on its branch.
// Offered where that agent can; refused for any other, which knows nothing of it.

import type { TaskAttempt, UserSystemInfo } from "../api/types";
import { agentWord, profileOf } from "../facts/agents";
import { CheckField } from "../ui/Field";
import styles from "./Task.module.css";

/** Tells whether a new attempt can branch off the conversation of another. */
export const canBranchOff = (attempt: TaskAttempt, about: UserSystemInfo | undefined) =>
  about?.capabilities[attempt.executor_profile_id.executor]?.includes("SESSION_FORK") ?? false;

/** Why the chosen agents cannot go on with that conversation; null when they can. */
export function whyNoMemory(attempt: TaskAttempt, profiles: readonly string[]): string | null {
  const { executor } = attempt.executor_profile_id;
  if (profiles.every((key) => profileOf(key).executor === executor)) return null;
  return `Only ${agentWord(executor)} knows that conversation.`;
}

type Props = { attempt: TaskAttempt; isOn: boolean; why: string | null; onChange: (isOn: boolean) => void };

export function Memory({ attempt, isOn, why, onChange }: Props) {
  return (
    <div>
      <CheckField
        label={`Begin with what ${agentWord(attempt.executor_profile_id.executor)} knows from that attempt`}
        help="When it is started now: its conversation is branched off, on its branch unless you choose another. A wish keeps no memory."
        checked={isOn}
        onChange={(event) => onChange(event.target.checked)}
      />
      {why && (
        <p className={styles.why} role="status">
          {why}
        </p>
      )}
    </div>
  );
}
