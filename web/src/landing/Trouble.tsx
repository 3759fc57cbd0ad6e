// What stands in the way of landing, in a sentence that stays, with the ways out beside it.

import type { BranchStatus, TaskAttempt } from "../api/types";
import { Button } from "../ui/Button";
import type { Landing } from "./acts";
import styles from "./Landing.module.css";
import { isBusy } from "./next-step";
import { isOver } from "./problem";
import { AT_WORK } from "./verbs";

type ConflictProps = { attempt: TaskAttempt; status: BranchStatus; landing: Landing; onAbort: () => void };

export function Conflict({ attempt, status, landing, onAbort }: ConflictProps) {
  const { conflicted_files: files, conflict_op: operation } = status;
  if (!operation) return null;
  const what = operation === "cherry_pick" ? "Cherry-pick" : operation[0]?.toUpperCase() + operation.slice(1);
  const named =
    files.length > 3 ? `${files.slice(0, 3).join(", ")} and ${files.length - 3} more` : files.join(", ");
  const busy = (isBusy(attempt) && AT_WORK) || underWay(landing);
  return (
    <div className={styles.problem} role="alert">
      <p>
        {files.length > 0
          ? `${what} stopped: ${named} ${files.length === 1 ? "conflicts" : "conflict"} with ${status.target_branch_name}.`
          : `${what} is not finished: every conflict is resolved.`}
      </p>
      <div className={styles.acts}>
        {files.length > 0 && (
          <Button disabled={busy} onClick={() => void landing.resolve(files)}>
            Let the agent resolve it
          </Button>
        )}
        <Button disabled={underWay(landing)} onClick={() => void landing.openEditor(files[0])}>
          Open in editor
        </Button>
        {operation === "rebase" && (
          <Button
            disabled={busy}
            title="When you have resolved the conflicts in the files"
            onClick={() => void landing.goOn()}
          >
            Continue rebase
          </Button>
        )}
        <Button disabled={busy} onClick={onAbort}>
          Abort {operation === "rebase" ? "rebase" : operation.replace("_", "-")}
        </Button>
      </div>
    </div>
  );
}

type RefusalProps = { status: BranchStatus | undefined; landing: Landing; onChangeTarget: () => void };

export function Refusal({ status, landing, onChangeTarget }: RefusalProps) {
  const { problem } = landing;
  if (!problem || isOver(problem, status)) return null;
  const busy = underWay(landing);
  return (
    <div className={styles.problem} role="alert">
      <p>{problem.sentence}</p>
      <div className={styles.acts}>
        {problem.remedy === "rebase then merge" && (
          <Button disabled={busy} onClick={() => void landing.rebaseThenMerge()}>
            Rebase then merge
          </Button>
        )}
        {problem.remedy === "merge without hooks" && (
          <Button disabled={busy} onClick={() => void landing.merge(true)}>
            Merge without hooks
          </Button>
        )}
        {problem.remedy === "change target" && <Button onClick={onChangeTarget}>Change target branch</Button>}
        {problem.remedy === "stop" && (
          <Button disabled={busy} onClick={() => void landing.stop()}>
            Stop the agent
          </Button>
        )}
        <Button kind="quiet" icon="close" label="Close" onClick={landing.forget} />
      </div>
    </div>
  );
}

/** Why nothing else can be begun: one thing at a time is done to a branch. */
const underWay = (landing: Landing) => landing.busy && `${landing.busy}…`;
