// The snapshots of an attempt's files: one after every turn, and before whatever could lose something.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get } from "../../api/client";
import type { AttemptSnapshot, TaskAttempt, TaskAttemptDiff } from "../../api/types";
import { keyOf } from "../../app/queries";
import { useAct } from "../../ui/act";
import { Button } from "../../ui/Button";
import { Confirm } from "../../ui/Dialog";
import { Empty, Failed, Loading } from "../../ui/Nothing";
import { counted } from "../../ui/numbers";
import { Ago } from "../../ui/time";
import { isWorking } from "../composer/words";
import { useSnapshots } from "../conversation/turns";
import { Findings } from "./Findings";
import { restore } from "./restore";
import styles from "./Snapshots.module.css";

type Props = {
  attempt: TaskAttempt;
  /** Between which two snapshots changes are shown; `to` null means as it is now. */
  between: { from: string; to: string | null } | null;
  onBetween: (between: { from: string; to: string | null } | null) => void;
};

export function Snapshots({ attempt, between, onBetween }: Props) {
  const { data, error, refetch } = useSnapshots(attempt.id);
  const [asked, setAsked] = useState<{ id: string; words: string } | null>(null);
  const act = useAct();
  const list = data ?? [];
  const isRunning = isWorking(attempt.state);
  return (
    <div className={styles.pane}>
      <Findings attempt={attempt.id} />
      {!data &&
        (error ? (
          <Failed what="Snapshots are" error={error} again={() => void refetch()} />
        ) : (
          <Loading what="the snapshots" />
        ))}
      {data && list.length === 0 && <Empty>No snapshot yet: one is taken when a turn ends.</Empty>}
      {between && between.to === null && (
        <section className={styles.snapshot} aria-label="Changes until now">
          <p className={styles.why}>Until now</p>
          <Between attempt={attempt.id} from={between.from} to={null} />
        </section>
      )}
      <ul className={styles.list} aria-label="Snapshots">
        {list.map((snapshot, index) => {
          const from = list[index + 1]?.id ?? "start";
          const isShown = between?.to === snapshot.id;
          return (
            <li key={snapshot.id} className={styles.snapshot}>
              <div className={styles.row}>
                <span className={styles.why}>{whyWords(list, index)}</span>
                <span className={styles.meta}>
                  {changesIn(snapshot)} · <Ago since={snapshot.created_at} />
                </span>
                <Button
                  size="small"
                  kind="quiet"
                  aria-expanded={isShown}
                  label={`Changes of ${whyWords(list, index)}`}
                  onClick={() => onBetween(isShown ? null : { from, to: snapshot.id })}
                >
                  Changes
                </Button>
                <Button
                  size="small"
                  icon="undo"
                  label={`Restore ${whyWords(list, index)}`}
                  disabled={isRunning && "Not while the agent runs."}
                  onClick={() => setAsked({ id: snapshot.id, words: whyWords(list, index) })}
                >
                  Restore
                </Button>
              </div>
              {isShown && <Between attempt={attempt.id} from={between.from} to={between.to} />}
              {snapshot.left_out.length > 0 && (
                <p
                  className={styles.meta}
                  title={snapshot.left_out.map(({ path, why }) => `${path}: ${why}`).join("\n")}
                >
                  {counted(snapshot.left_out.length, "file")} too large to be held
                </p>
              )}
            </li>
          );
        })}
      </ul>
      {asked && (
        <Confirm
          title={`Put the files back to ${asked.words}?`}
          verb="Put the files back"
          busy={act.busy ?? false}
          problem={act.problem}
          onClose={() => {
            act.clear();
            setAsked(null);
          }}
          onConfirm={() =>
            void act
              .run("Putting back", () => restore(attempt.id, asked.id))
              .then((isDone) => isDone && setAsked(null))
          }
        >
          Later work stays as a snapshot. The branch and its commits stay where they are.
        </Confirm>
      )}
    </div>
  );
}

/** The files that differ between two snapshots. */
function Between({ attempt, from, to }: { attempt: string; from: string; to: string | null }) {
  const { data, error, refetch } = useQuery({
    queryKey: keyOf.attempt(attempt, "between", from, to),
    queryFn: ({ signal }) =>
      get<TaskAttemptDiff>(
        `/task-attempts/${attempt}/diff?stats_only=true&from=${from}&to=${to ?? "now"}`,
        signal,
      ),
  });
  if (error) return <Failed what="The changes are" error={error} again={() => void refetch()} />;
  if (!data) return <Loading what="the changes" />;
  if (data.diffs.length === 0) return <p className={styles.meta}>No file differs.</p>;
  return (
    <ul className={styles.files} aria-label="Changed files">
      {data.diffs.map((diff) => {
        const path = diff.newPath ?? diff.oldPath ?? "";
        return (
          <li key={path}>
            <code>{path}</code>
            <span className={styles.added}>+{diff.additions ?? 0}</span>
            <span className={styles.deleted}>−{diff.deletions ?? 0}</span>
          </li>
        );
      })}
    </ul>
  );
}

/** "after turn 3", "before a restore". */
export function whyWords(list: readonly AttemptSnapshot[], index: number): string {
  const snapshot = list[index];
  if (snapshot?.why !== "turn") return `before ${snapshot?.why ?? "it"}`;
  const number = list.slice(index).filter(({ why }) => why === "turn").length;
  return `after turn ${number}`;
}

function changesIn({ changes }: AttemptSnapshot): string {
  if (!changes) return "";
  const { added, changed, deleted } = changes;
  if (added + changed + deleted === 0) return "no change";
  return [added && `${added} added`, changed && `${changed} changed`, deleted && `${deleted} deleted`]
    .filter(Boolean)
    .join(", ");
}
