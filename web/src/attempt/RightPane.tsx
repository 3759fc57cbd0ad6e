// The pane beside a conversation: what was changed, what ran, the preview and the snapshots, one at a time.

import { Suspense } from "react";
import type { TaskAttempt } from "../api/types";
import { Changes, Preview, Runs, Snapshots } from "../app/parts";
import { Boundary } from "../ui/Boundary";
import { Loading } from "../ui/Nothing";
import styles from "./RightPane.module.css";
import type { Tab } from "./tabs";
import { TABS } from "./tabs";

type Between = { from: string; to: string | null };

type Props = {
  attempt: TaskAttempt;
  tab: Tab;
  runs: number | null;
  between: Between | null;
  onTab: (tab: Tab) => void;
  onBetween: (between: Between | null) => void;
};

const WORDS: Record<Tab, string> = {
  changes: "Changes",
  runs: "Runs",
  preview: "Preview",
  snapshots: "Snapshots",
};

export function RightPane({ attempt, tab, runs, between, onTab, onBetween }: Props) {
  const counts: Partial<Record<Tab, number | null>> = { changes: attempt.files_changed, runs };
  return (
    <div className={styles.pane}>
      <div
        className={styles.tabs}
        role="tablist"
        aria-label="Attempt"
        onKeyDown={(event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!step) return;
          const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length];
          if (!next) return;
          onTab(next);
          document.getElementById(`tab-${next}`)?.focus();
        }}
      >
        {TABS.map((name) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            className={styles.tab}
            aria-selected={name === tab}
            aria-controls="right-pane"
            tabIndex={name === tab ? 0 : -1}
            onClick={() => onTab(name)}
          >
            {WORDS[name]}
            {counts[name] ? ` ${counts[name]}` : ""}
            {name === "snapshots" && attempt.findings > 0 && (
              <>
                {" "}
                <span className={styles.findings}>{attempt.findings} outside</span>
              </>
            )}
          </button>
        ))}
      </div>
      <div
        id="right-pane"
        role="tabpanel"
        aria-labelledby={`tab-${tab}`}
        className={styles.panel}
        tabIndex={-1}
      >
        <PaneContent attempt={attempt} tab={tab} between={between} onBetween={onBetween} />
      </div>
    </div>
  );
}

/** What a tab shows; also what a phone shows of it. */
export function PaneContent({ attempt, tab, between, onBetween }: Omit<Props, "onTab" | "runs">) {
  return (
    <Boundary what={WORDS[tab]} at={tab}>
      <Suspense fallback={<Loading what={WORDS[tab].toLowerCase()} />}>
        {tab === "changes" ? (
          <Changes attempt={attempt.id} />
        ) : tab === "runs" ? (
          <Runs attempt={attempt.id} />
        ) : tab === "preview" ? (
          <Preview attempt={attempt.id} />
        ) : (
          <Snapshots attempt={attempt} between={between} onBetween={onBetween} />
        )}
      </Suspense>
    </Boundary>
  );
}
