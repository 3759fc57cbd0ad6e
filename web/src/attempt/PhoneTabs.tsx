// The tabs of an attempt on a phone, under the thumb.

import type { TaskAttempt } from "../api/types";
import styles from "./PhoneTabs.module.css";
import type { PhoneTab } from "./tabs";

type Props = { attempt: TaskAttempt; tab: PhoneTab; onTab: (tab: PhoneTab) => void };

export function PhoneTabs({ attempt, tab, onTab }: Props) {
  const tabs: ReadonlyArray<{ id: PhoneTab; words: string }> = [
    { id: "chat", words: "Chat" },
    { id: "changes", words: attempt.files_changed ? `Changes ${attempt.files_changed}` : "Changes" },
    { id: "land", words: "Land" },
    { id: "runs", words: "Runs" },
  ];
  return (
    <div className={styles.tabs} role="tablist" aria-label="Attempt">
      {tabs.map(({ id, words }) => (
        <button key={id} type="button" role="tab" aria-selected={id === tab} onClick={() => onTab(id)}>
          {words}
        </button>
      ))}
    </div>
  );
}
