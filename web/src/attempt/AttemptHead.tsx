// The head of an attempt: whose it is, which of how many, how it stands, and what can be done with it as a whole.

import { useCallback, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import type { TaskAttempt } from "../api/types";
import { sameList, useWorld } from "../api/world";
import { useAway } from "../app/away";
import { copy } from "../app/copy";
import { run, runSoon, shown } from "../app/keys";
import { openOverlay } from "../app/overlays";
import { cardOf, sameCard } from "../board/cards";
import { MoveQuestion, type Question } from "../board/MoveQuestion";
import { moveItems, takeCard, wholeOf } from "../board/menu";
import { profileInFull, profileWords } from "../facts/agents";
import { indexOf } from "../facts/index-of";
import { LOOKS } from "../facts/state";
import { Head } from "../ui/Head";
import { Icon } from "../ui/Icon";
import { Menu, MenuButton, type MenuItem, type Place } from "../ui/Menu";
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
  const card = useWorld((world) => cardOf(world, attempt.task_id ?? ""), sameCard);
  const away = useAway();
  const head = useRef<HTMLDivElement>(null);
  const [moving, setMoving] = useState<Place | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  const endMoving = useCallback(() => setMoving(null), []);
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
  const ofTheTask = (): MenuItem[] => {
    if (!card) return [];
    const { move, duplicate, putAway, remove } = wholeOf(
      card,
      away,
      () => {
        // Where the menu was that it was chosen from.
        const box = head.current?.querySelector("header > button:last-child")?.getBoundingClientRect();
        if (box) setMoving({ x: box.left, y: box.top, width: box.width, height: box.height });
      },
      // There is nothing left to look at here.
      () => location.pathname === `/a/${attempt.id}` && go(`/p/${attempt.project_id}`),
    );
    // All of its attempts go with it, so it is named.
    return [
      "line",
      { ...move, words: "Move the task to…" },
      { ...duplicate, words: "Duplicate the task" },
      { ...putAway, words: putAway.words === "Archive" ? "Archive the task" : "Bring the task back" },
      { ...remove, words: "Delete the task" },
    ];
  };
  const more = (): MenuItem[] => [
    {
      words: "Find in this attempt",
      icon: "search",
      hint: shown("f"),
      run: () => {
        // A phone may show something else.
        run("paneConversation");
        // After the menu has gone, which gives the focus back to its button.
        runSoon("find");
      },
    },
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
    ...ofTheTask(),
  ];
  const isLive = facts && ["running", "preparing", "stalled"].includes(facts.state);
  return (
    <div ref={head} className={styles.head}>
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
      {moving && card && (
        <Menu
          label={`Move ${card.task.title} to`}
          at={moving}
          items={moveItems(card, (_, to) => takeCard(card, to, setQuestion))}
          onClose={endMoving}
        />
      )}
      {question && <MoveQuestion question={question} onClose={() => setQuestion(null)} />}
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
