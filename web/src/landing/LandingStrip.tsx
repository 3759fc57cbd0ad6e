// How an attempt stands to its target branch, and the next step of landing it.

import { useState } from "react";
import type { BranchStatus, TaskAttempt } from "../api/types";
import { useWorld } from "../api/world";
import { useBranchStatus } from "../app/branch-status";
import { useActions } from "../app/keys";
import { checkWords } from "../facts/state";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { MenuButton } from "../ui/Menu";
import { Failed } from "../ui/Nothing";
import { counted } from "../ui/numbers";
import { useLanding } from "./acts";
import { Dialogs } from "./Dialogs";
import styles from "./Landing.module.css";
import { isBusy, nextStep, type Step } from "./next-step";
import { Conflict, Refusal } from "./Trouble";
import { take } from "./take";
import { type Asked, AT_WORK, verbs } from "./verbs";

export function LandingStrip({ attempt: id }: { attempt: string }) {
  const attempt = useWorld((world) => world.attempts.get(id));
  const { data: status, error, refetch } = useBranchStatus(id);
  const landing = useLanding(id);
  const [open, setOpen] = useState<Asked | null>(null);
  const step = attempt && status ? nextStep(attempt, status) : null;
  const why = attempt && step ? notNow(attempt, step) : null;
  const act = () => {
    if (step && !why) take(step, landing, setOpen);
  };
  useActions("attempt", { land: act }, step !== null && !why);
  if (!attempt) return null;

  return (
    <section className={styles.landing} aria-label="Landing">
      {status && (
        <Conflict attempt={attempt} status={status} landing={landing} onAbort={() => setOpen("abort")} />
      )}
      {open === null && <Refusal {...{ status, landing }} onChangeTarget={() => setOpen("change target")} />}
      <div className={styles.strip}>
        <span className={styles.branches} title={`${attempt.branch} lands on ${attempt.target_branch}`}>
          <Icon name="fork" size={14} />
          <span>{attempt.target_branch}</span>
          <span aria-hidden="true">←</span>
          <span className={styles.branch}>{attempt.branch}</span>
        </span>
        {status ? (
          <Standing status={status} />
        ) : error ? (
          <Failed what="The branch is" error={error} again={() => void refetch()} />
        ) : (
          <span className={styles.quiet}>…</span>
        )}
        <span className={styles.room} />
        {(why || step?.verb === "nothing") && (
          <span className={styles.why}>{why ?? (step?.verb === "nothing" ? step.why : null)}</span>
        )}
        {step && (
          <Button
            kind={why || step.verb === "nothing" ? "plain" : "primary"}
            disabled={why ?? (step.verb === "nothing" && step.why)}
            busy={landing.busy}
            hint={why || step.verb === "nothing" ? undefined : "M"}
            onClick={act}
          >
            {step.words}
          </Button>
        )}
        {status && (
          <MenuButton
            label="Other ways to land"
            icon="more"
            items={() => verbs(attempt, status, landing, setOpen)}
          />
        )}
      </div>
      {status && open && <Dialogs {...{ attempt, status, landing, open }} onClose={() => setOpen(null)} />}
    </section>
  );
}

function notNow(attempt: TaskAttempt, step: Step): string | null {
  return isBusy(attempt) && step.verb !== "nothing" && step.verb !== "open pull request" ? AT_WORK : null;
}

/** The checklist, from left to right. */
function Standing({ status }: { status: BranchStatus }) {
  const { commits_ahead: ahead, commits_behind: behind, target_branch_name: target } = status;
  const request = status.merges.find((merge) => merge.type === "pr");
  const checks = request?.type === "pr" && request.pr_info.status === "open" ? request.pr_info.checks : null;
  const left = (status.uncommitted_count ?? 0) + (status.untracked_count ?? 0);
  const merged = status.merges.some((merge) => merge.type === "direct");
  return (
    <>
      <span
        className={styles.counts}
        role="status"
        title={
          ahead === null ? undefined : `${counted(ahead, "commit")} ahead of ${target}, ${behind ?? 0} behind`
        }
      >
        {ahead === null ? (
          `${target} is gone`
        ) : (
          <>
            <span>
              <span aria-hidden="true">↑</span>
              {ahead} <span className="unseen">ahead</span>
            </span>
            <span data-warn={(behind ?? 0) > 0 || undefined}>
              <span aria-hidden="true">↓</span>
              {behind ?? 0} <span className="unseen">behind</span>
            </span>
          </>
        )}
      </span>
      <span className={styles.quiet}>{left > 0 ? `${left} not committed` : "clean"}</span>
      {merged && (
        <span className={styles.merged}>
          <Icon name="done" size={14} /> merged
        </span>
      )}
      {request?.type === "pr" && (
        <a className={styles.quiet} href={request.pr_info.url} target="_blank" rel="noreferrer noopener">
          #{request.pr_info.number} {request.pr_info.status}
        </a>
      )}
      {checks && checkWords(checks) && (
        <span className={styles.quiet} data-warn={checks.failed > 0 || undefined}>
          {checkWords(checks)}
        </span>
      )}
    </>
  );
}
