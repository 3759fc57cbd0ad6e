// Attempts of one task side by side: their facts, what each said last, and who changed what.

import { useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { get } from "../api/client";
import type { Diff, TaskAttempt, TaskAttemptDiff, TaskAttemptEntries } from "../api/types";
import { begin, sameList, useWorld } from "../api/world";
import { useBranchStatus } from "../app/branch-status";
import { keyOf } from "../app/queries";
import { profileWords } from "../facts/agents";
import { indexOf } from "../facts/index-of";
import { LOOKS } from "../facts/state";
import { Button } from "../ui/Button";
import { Head } from "../ui/Head";
import { Markdown } from "../ui/Markdown";
import { NotHere } from "../ui/NotHere";
import { Empty, Failed, Loading } from "../ui/Nothing";
import { compact, counted, money } from "../ui/numbers";
import { sentence } from "../ui/sentence";
import { useLanding } from "./acts";
import styles from "./Compare.module.css";
import { Dialogs } from "./Dialogs";
import { isBusy, nextStep } from "./next-step";
import { Conflict, Refusal } from "./Trouble";
import { take } from "./take";
import { type Asked, AT_WORK } from "./verbs";

/** So many stand side by side. */
const MOST = 3;

export function ComparePage({ task: id }: { task: string }) {
  const task = useWorld((world) => world.tasks.get(id));
  const isKnown = useWorld((world) => world.isKnown);
  const problem = useWorld((world) => world.problem);
  const attempts = useWorld((world) => indexOf(world).attemptsOf(id), sameList);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  if (!task && !isKnown && problem)
    return <Failed what="The task is" error={problem} again={() => void begin()} />;
  if (!task) return isKnown ? <NotHere /> : <Loading what="the task" />;
  const numbered = [...attempts].reverse().map((attempt, index) => ({ attempt, number: index + 1 }));
  const chosen = numbered.filter(({ attempt }) => !left.has(attempt.id)).slice(-MOST);
  return (
    <div className={styles.page}>
      <Head title={<>Compare: {task.title}</>}>
        {numbered.length > 2 && (
          <span className={styles.choices}>
            {numbered.map(({ attempt, number }) => (
              <label key={attempt.id}>
                <input
                  type="checkbox"
                  checked={chosen.some((it) => it.attempt.id === attempt.id)}
                  onChange={(event) => {
                    const next = new Set(left);
                    if (event.target.checked) {
                      next.delete(attempt.id);
                      // The place of the one that has been here longest.
                      if (chosen.length >= MOST && chosen[0]) next.add(chosen[0].attempt.id);
                    } else next.add(attempt.id);
                    setLeft(next);
                  }}
                />
                {number}
              </label>
            ))}
          </span>
        )}
      </Head>
      {chosen.length === 0 ? (
        <Empty>There is no attempt to compare yet.</Empty>
      ) : (
        <div className={styles.body}>
          <div className={styles.columns} style={{ "--columns": chosen.length } as React.CSSProperties}>
            {chosen.map(({ attempt, number }) => (
              <Column key={attempt.id} attempt={attempt} number={number} />
            ))}
          </div>
          <Files attempts={chosen} />
        </div>
      )}
    </div>
  );
}

function Column({ attempt, number }: { attempt: TaskAttempt; number: number }) {
  const facts = useWorld(
    (world) => indexOf(world).factsOfAttempt(attempt.id),
    (a, b) => a?.state === b?.state && a?.reason === b?.reason,
  );
  const { data, error, refetch } = useQuery({
    queryKey: keyOf.attempt(attempt.id, "last entries"),
    queryFn: ({ signal }) => get<TaskAttemptEntries>(`/task-attempts/${attempt.id}/entries?limit=50`, signal),
  });
  const said = data?.entries.findLast(({ entry }) => entry.entry_type.type === "assistant_message");
  return (
    <article className={styles.column} aria-label={`Attempt ${number}`}>
      <header>
        <h2>
          <Link href={`/a/${attempt.id}`}>Attempt {number}</Link>
        </h2>
        <UseThis attempt={attempt} />
      </header>
      <dl className={styles.facts}>
        <dt>Agent</dt>
        <dd>{profileWords(attempt.executor_profile_id)}</dd>
        <dt>State</dt>
        <dd>
          {facts && LOOKS[facts.state].words}
          {facts?.reason && <small>{sentence(facts.reason)}</small>}
        </dd>
        <dt>Changes</dt>
        <dd>
          {attempt.files_changed == null
            ? "not known"
            : `${counted(attempt.files_changed, "file")}, +${compact(attempt.lines_added ?? 0)} −${compact(attempt.lines_deleted ?? 0)}`}
        </dd>
        <dt>Cost</dt>
        <dd>{attempt.cost_micros == null ? "not told" : money(attempt.cost_micros)}</dd>
      </dl>
      <h3>What it said last</h3>
      <div className={styles.said}>
        {said ? (
          <Markdown text={said.entry.content} />
        ) : error ? (
          <Failed isLine what="Its words are" error={error} again={() => void refetch()} />
        ) : (
          data && <p>Nothing.</p>
        )}
      </div>
    </article>
  );
}

function UseThis({ attempt }: { attempt: TaskAttempt }) {
  const { data: status, error, refetch } = useBranchStatus(attempt.id);
  const landing = useLanding(attempt.id);
  const [open, setOpen] = useState<Asked | null>(null);
  if (!status)
    return error && <Failed isLine what="Its branch is" error={error} again={() => void refetch()} />;
  const step = nextStep(attempt, status);
  const why = step.verb === "nothing" ? step.why : isBusy(attempt) && AT_WORK;
  return (
    <>
      <Button kind="primary" disabled={why} busy={landing.busy} onClick={() => take(step, landing, setOpen)}>
        Merge this one
      </Button>
      {why && <span className={styles.why}>{why}</span>}
      <Conflict {...{ attempt, status, landing }} onAbort={() => setOpen("abort")} />
      {open === null && <Refusal {...{ status, landing }} onChangeTarget={() => setOpen("change target")} />}
      {open && <Dialogs {...{ attempt, status, landing, open }} onClose={() => setOpen(null)} />}
    </>
  );
}

type Numbered = { attempt: TaskAttempt; number: number };

/** Every file that any of them changed, and how each did. */
function Files({ attempts }: { attempts: readonly Numbered[] }) {
  const answers = useQueries({
    queries: attempts.map(({ attempt }) => ({
      queryKey: keyOf.attempt(attempt.id, "diff list"),
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        get<TaskAttemptDiff>(`/task-attempts/${attempt.id}/diff?stats_only=true`, signal),
    })),
  });
  const failed = answers.filter(({ data, error }) => error && !data);
  if (failed[0]) {
    const again = () => {
      for (const { refetch } of failed) void refetch();
    };
    return <Failed what="The files are" error={failed[0].error} again={again} />;
  }
  if (answers.some(({ data }) => !data)) return <Loading what="the files" />;
  const maps = answers.map(
    ({ data }) => new Map((data?.diffs ?? []).map((diff) => [diff.newPath ?? diff.oldPath ?? "", diff])),
  );
  const paths = [...new Set(maps.flatMap((map) => [...map.keys()]))].sort();
  if (paths.length === 0) return <Empty>None of them changed a file.</Empty>;
  return (
    <div className={styles.scroll}>
      <table className={styles.files}>
        <caption>Who changed what</caption>
        <thead>
          <tr>
            <th scope="col">{counted(paths.length, "file")}</th>
            {attempts.map(({ number }) => (
              <th key={number} scope="col">
                Attempt {number}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {paths.map((path) => (
            <tr key={path}>
              <th scope="row">
                <bdi>{path}</bdi>
              </th>
              {attempts.map(({ attempt, number }, index) => (
                <td key={number}>
                  <Did attempt={attempt.id} path={path} diff={maps[index]?.get(path)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How an attempt changed a file, and the way to the lines. */
function Did({ attempt, path, diff }: { attempt: string; path: string; diff: Diff | undefined }) {
  if (!diff) return "–";
  return <Link href={`/a/${attempt}?tab=changes&file=${encodeURIComponent(path)}`}>{did(diff)}</Link>;
}

function did(diff: Diff): string {
  const words = {
    added: "new",
    deleted: "deleted",
    renamed: "renamed",
    modified: "",
    permissionChange: "mode",
  };
  return [words[diff.change], `+${diff.additions ?? 0} −${diff.deletions ?? 0}`].filter(Boolean).join(" ");
}
