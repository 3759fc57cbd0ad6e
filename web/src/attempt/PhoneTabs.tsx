// The tabs of an attempt on a phone, under the thumb: those that are wanted most, and a menu with the others.

import type { TaskAttempt } from "../api/types";
import { MenuButton, type MenuItem } from "../ui/Menu";
import styles from "./PhoneTabs.module.css";
import type { PhoneTab } from "./tabs";

type Props = { attempt: TaskAttempt; tab: PhoneTab; onTab: (tab: PhoneTab) => void };

const MORE = [
  { id: "preview", words: "Preview" },
  { id: "snapshots", words: "Snapshots" },
] as const;

export function PhoneTabs({ attempt, tab, onTab }: Props) {
  const tabs: ReadonlyArray<{ id: PhoneTab; words: string }> = [
    { id: "chat", words: "Chat" },
    { id: "changes", words: attempt.files_changed ? `Changes ${attempt.files_changed}` : "Changes" },
    { id: "land", words: "Land" },
    { id: "runs", words: "Runs" },
  ];
  const outside = attempt.findings > 0 ? `${attempt.findings} outside` : null;
  const chosen = MORE.find(({ id }) => id === tab)?.words;
  const items = (): MenuItem[] =>
    MORE.map(({ id, words }) => ({
      words,
      isChosen: id === tab,
      about: id === "snapshots" && outside,
      run: () => onTab(id),
    }));
  return (
    <div className={styles.bar}>
      <div className={styles.tabs} role="tablist" aria-label="Attempt">
        {tabs.map(({ id, words }) => (
          <button key={id} type="button" role="tab" aria-selected={id === tab} onClick={() => onTab(id)}>
            {words}
          </button>
        ))}
      </div>
      <div className={styles.more} data-chosen={chosen !== undefined || undefined}>
        <MenuButton
          label={["More tabs", chosen, outside].filter(Boolean).join(", ")}
          kind="quiet"
          items={items}
        >
          {chosen ?? "More"}
          {outside && <span className={styles.outside}>{attempt.findings}</span>}
        </MenuButton>
      </div>
    </div>
  );
}
