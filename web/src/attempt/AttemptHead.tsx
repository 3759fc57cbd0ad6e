// The head of an attempt: whose it is, which of how many, how it stands, and what can be done with it as a whole.

import { Link, useLocation } from "wouter";
import type { TaskAttempt } from "../api/types";
import { sameList, useWorld } from "../api/world";
import { copy } from "../app/copy";
import { openOverlay } from "../app/overlays";
import { profileInFull, profileWords } from "../facts/agents";
import { indexOf } from "../facts/index-of";
import { LOOKS } from "../facts/state";
import { Head } from "../ui/Head";
import { Icon } from "../ui/Icon";
import { MenuButton, type MenuItem } from "../ui/Menu";
import { counted, money } from "../ui/numbers";
import { StateMark } from "../ui/StateMark";
import { Ago, Elapsed } from "../ui/time";
import styles from "./AttemptHead.module.css";

export function AttemptHead({ attempt }: { attempt: TaskAttempt }) {
  const [, go] = useLocation();
  const task = useWorld((world) => (attempt.task_id ? world.tasks.get(attempt.task_id) : undefined));
  const project = useWorld((world) => world.projects.get(attempt.project_id));
  const attempts = useWorld(
    (world) => [...indexOf(world).attemptsOf(attempt.task_id ?? "")].reverse(),
    sameList,
  );
  const facts = useWorld((world) => indexOf(world).factsOfAttempt(attempt.id), sameFacts);
  const whole = useWorld((world) => world.attempts.get(attempt.forked_from ?? ""));
  const number = attempts.findIndex(({ id }) => id === attempt.id) + 1;
  const others = (): MenuItem[] => [
    ...attempts.map((it, index) => ({
      words: `${index + 1}. ${profileInFull(it.executor_profile_id)}`,
      about: aboutOf(it),
      isChosen: it.id === attempt.id,
      run: () => go(`/a/${it.id}`),
    })),
    "line",
    ...(task
      ? [
          {
            words: "Another attempt…",
            icon: "plus" as const,
            run: () => openOverlay({ name: "start", task: task.id }),
          },
        ]
      : []),
    ...(task && attempts.length > 1
      ? [{ words: "Compare", icon: "board" as const, run: () => go(`/t/${task.id}/compare`) }]
      : []),
  ];
  const more = (): MenuItem[] => [
    {
      words: "Copy link",
      icon: "copy",
      run: () => void copy(location.href, "The link"),
    },
    ...(task
      ? [
          {
            words: "Edit the task",
            icon: "edit" as const,
            run: () => openOverlay({ name: "new task", project: task.project_id, task: task.id }),
          },
          {
            words: "New subtask",
            icon: "plus" as const,
            run: () => openOverlay({ name: "new task", project: task.project_id, parent: attempt.id }),
          },
        ]
      : []),
    {
      words: "Copy the worktree's path",
      icon: "folder",
      disabled: attempt.container_ref ? null : "It has no worktree.",
      run: () => void copy(attempt.container_ref ?? "", "The path"),
    },
  ];
  const isLive = facts && ["running", "preparing", "stalled"].includes(facts.state);
  return (
    <div className={styles.head}>
      <Head title={task?.title ?? attempt.branch}>
        <Link
          className={styles.back}
          href={`/p/${attempt.project_id}`}
          aria-label={`Board of ${project?.name ?? "the project"}`}
        >
          <Icon name="left" size={14} />
          <span>{project?.name}</span>
        </Link>
        {facts && (
          <p className={styles.state}>
            <StateMark state={facts.state} size={14} />
            <span>{LOOKS[facts.state].words}</span>
            {isLive ? <Elapsed since={facts.since} /> : <Ago since={facts.since} />}
            <span className={styles.agent}>{profileWords(attempt.executor_profile_id)}</span>
            {attempt.cost_micros ? <span>{money(attempt.cost_micros)}</span> : null}
            {whole && (
              <Link
                className={styles.whole}
                href={`/a/${whole.id}`}
                title="It began with what was said there."
              >
                branched off
              </Link>
            )}
          </p>
        )}
        <span className={styles.gap} />
        {number > 0 && (
          <MenuButton
            label={`Attempt ${number} of ${attempts.length}`}
            kind="quiet"
            size="small"
            items={others}
          >
            attempt {number} of {attempts.length}
          </MenuButton>
        )}
        <MenuButton label="More about this attempt" icon="more" kind="quiet" size="small" items={more} />
      </Head>
      {facts?.reason &&
        (facts.state === "failed" ||
          facts.state === "stalled" ||
          facts.state === "limited" ||
          facts.state === "queued") && (
          <p
            className={styles.reason}
            data-tone={LOOKS[facts.state].tone}
            role={facts.state === "failed" ? "alert" : "status"}
          >
            {facts.state === "failed"
              ? `The agent stopped: ${facts.reason.replace(/[.\s]+$/, "")}. Work so far is kept.`
              : facts.reason}
          </p>
        )}
    </div>
  );
}

function aboutOf(attempt: TaskAttempt): string {
  return [
    attempt.state,
    attempt.files_changed ? counted(attempt.files_changed, "file") : null,
    attempt.cost_micros ? money(attempt.cost_micros) : null,
  ]
    .filter(Boolean)
    .join(" · ");
}

type MaybeFacts = ReturnType<ReturnType<typeof indexOf>["factsOfAttempt"]>;
const sameFacts = (a: MaybeFacts, b: MaybeFacts) =>
  a === b || (a?.state === b?.state && a?.since === b?.since && a?.reason === b?.reason);
