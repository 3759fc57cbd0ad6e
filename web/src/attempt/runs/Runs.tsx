// The runs of an attempt: setup, agent, cleanup and dev server, each with how it stands, and the raw log of one.

import { useState } from "react";
import { post } from "../../api/client";
import type { ExecutionProcess } from "../../api/types";
import { clock } from "../../facts/clock";
import { useAct } from "../../ui/act";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Empty, Failed, Loading } from "../../ui/Nothing";
import { duration, Elapsed } from "../../ui/time";
import { useRuns } from "../conversation/turns";
import { RawLogView } from "./RawLogView";
import styles from "./Runs.module.css";

const WORDS = {
  setupscript: "Setup",
  codingagent: "Agent",
  cleanupscript: "Cleanup",
  devserver: "Dev server",
} as const;

export function Runs({ attempt }: { attempt: string }) {
  const { data: runs, error, refetch } = useRuns(attempt);
  const [chosen, setChosen] = useState<string | null>(null);
  if (!runs)
    return error ? (
      <Failed what="Runs are" error={error} again={() => void refetch()} />
    ) : (
      <Loading what="the runs" />
    );
  if (runs.length === 0) return <Empty>Nothing has run yet.</Empty>;
  const shown = runs.find((run) => run.id === chosen) ?? runs.at(-1);
  return (
    <div className={styles.runs}>
      <ul className={styles.list} aria-label="Runs">
        {runs.map((run, index) => (
          <RunRow
            key={run.id}
            run={run}
            name={nameOf(runs, index)}
            isShown={run === shown}
            onShow={() => setChosen(run.id)}
          />
        ))}
      </ul>
      {shown && (
        <RawLogView key={shown.id} run={shown.id} label={`Log of ${nameOf(runs, runs.indexOf(shown))}`} />
      )}
    </div>
  );
}

type RowProps = { run: ExecutionProcess; name: string; isShown: boolean; onShow: () => void };

function RunRow({ run, name, isShown, onShow }: RowProps) {
  const act = useAct();
  const { status, exit_code: exit, started_at: start, completed_at: end } = run;
  const isFailed = status === "failed";
  const icon =
    status === "running" ? "running" : isFailed ? "failed" : status === "killed" ? "stopped" : "done";
  const words = status === "killed" ? "stopped" : status;
  const code = exit !== null && exit !== 0 ? `exit ${exit}` : null;
  return (
    <li className={styles.run} data-shown={isShown || undefined}>
      <button type="button" className={styles.choose} aria-pressed={isShown} onClick={onShow}>
        <span className="unseen">{`${name}, ${[words, code].filter(Boolean).join(", ")}`}</span>
        <span className={styles.mark} data-status={status} aria-hidden="true">
          <Icon name={icon} size={14} />
        </span>
        <span className={styles.name} aria-hidden="true">
          {name}
        </span>
        <span className={styles.what} aria-hidden="true">
          {summary(run)}
        </span>
        <span className={styles.meta} aria-hidden="true">
          {code && <b>{code}</b>} {clock(start)} ·{" "}
          {end ? duration(Date.parse(end) - Date.parse(start)) : <Elapsed since={start} />}
        </span>
      </button>
      {status === "running" && (
        <Button
          size="small"
          busy={act.busy}
          label={`Stop ${name}`}
          onClick={() => act.run("Stopping", () => post(`/execution-processes/${run.id}/stop`))}
        >
          Stop
        </Button>
      )}
      {act.problem && (
        <p role="alert" className={styles.problem}>
          {act.problem}
        </p>
      )}
    </li>
  );
}

/** "Agent 2" when there are several of a kind. */
function nameOf(runs: readonly ExecutionProcess[], index: number): string {
  const kind = runs[index]?.run_reason ?? "codingagent";
  const same = runs.filter((run) => run.run_reason === kind);
  const number = runs.slice(0, index + 1).filter((run) => run.run_reason === kind).length;
  return same.length > 1 ? `${WORDS[kind]} ${number}` : WORDS[kind];
}

function summary({ executor_action: { typ } }: ExecutionProcess): string {
  const text = typ.type === "ScriptRequest" ? typ.script : typ.prompt;
  return text.trim().split("\n", 1)[0] ?? "";
}
