// What the menu of a card offers; what cannot be done now says why.

import { actionOf } from "../app/actions";
import { copy } from "../app/copy";
import { shown } from "../app/keys";
import { say } from "../app/notices";
import { openOverlay } from "../app/overlays";
import { deleteTask, moveTask, openAttempt, startTask, stopAttempt } from "../app/task-acts";
import { COLUMNS, type ColumnId } from "../facts/state";
import type { MenuItem } from "../ui/Menu";
import type { BoardActs } from "./BoardContext";
import { ownDoing } from "./calm";
import { type Card, isLive } from "./cards";
import { hrefOf } from "./Meta";
import type { Question } from "./MoveQuestion";
import { meaningOf } from "./moves";

type Go = (to: string) => void;

const hint = (id: Parameters<typeof actionOf>[0]) =>
  actionOf(id).keys[0] && shown(actionOf(id).keys[0] ?? "");

/** The menu of a card. `moveTo` opens the choice of columns at the same place. */
export function menuOf(card: Card, away: string | null, go: Go, moveTo: () => void): MenuItem[] {
  const { task, facts } = card;
  const { attempt } = facts;
  const id = task.id;
  const whole = wholeOf(card, away, moveTo);
  return [
    { words: "Open", hint: "Enter", run: () => go(hrefOf(card)) },
    ...(attempt
      ? [
          {
            words: "Another attempt…",
            disabled: away,
            run: () => openOverlay({ name: "start" as const, task: id }),
          },
        ]
      : [
          { words: "Start", hint: hint("startTask"), disabled: away, run: own(() => startTask(id)) },
          {
            words: "Start with…",
            disabled: away,
            run: () => openOverlay({ name: "start" as const, task: id }),
          },
        ]),
    ...(attempt && isLive(card)
      ? [
          {
            words: "Stop",
            hint: hint("stopTask"),
            disabled: away,
            run: own(() => void stopAttempt(id, attempt.id)),
          },
        ]
      : []),
    {
      words: "Reply",
      hint: hint("replyTask"),
      disabled: attempt ? null : "Nobody is at it yet: start it first.",
      run: () => attempt && openAttempt(attempt.id, "reply"),
    },
    "line",
    { ...whole.move, hint: hint("moveTask") },
    {
      words: "Edit",
      hint: hint("editTask"),
      run: () => openOverlay({ name: "new task", project: task.project_id, task: id }),
    },
    whole.duplicate,
    {
      words: "Subtask",
      disabled: attempt ? null : "A subtask grows out of an attempt: start it first.",
      run: () => attempt && openOverlay({ name: "new task", project: task.project_id, parent: attempt.id }),
    },
    { words: "Copy link", run: () => void copy(`${location.origin}/t/${id}`, "The link") },
    "line",
    task.status === "archived" ? whole.putAway : { ...whole.putAway, hint: hint("archiveTask") },
    { ...whole.remove, hint: "Del" },
  ];
}

const own = (run: () => void) => () => {
  ownDoing();
  run();
};

/** What can be done to a task as a whole, on its card and on the page of its attempt; the keys are the card's alone. */
export function wholeOf(card: Card, away: string | null, moveTo: () => void, onGone?: () => void) {
  const { id, project_id, status } = card.task;
  const whyNot = away || (isLive(card) ? "An agent is at it: stop it first." : null);
  return {
    move: { words: "Move to…", disabled: away, run: moveTo },
    duplicate: {
      words: "Duplicate",
      run: () => openOverlay({ name: "new task", project: project_id, copy: id }),
    },
    putAway:
      status === "archived"
        ? {
            words: "Bring back",
            disabled: away,
            run: own(() => moveTask(id, card.facts.attempt ? "done" : "todo")),
          }
        : { words: "Archive", disabled: whyNot, run: own(() => moveTask(id, "archived")) },
    remove: {
      words: "Delete",
      isDanger: true,
      disabled: whyNot,
      run: own(() => void deleteTask(id).then((isGone) => isGone && onGone?.())),
    },
  } satisfies Record<string, MenuItem>;
}

/** Does what it means to take one card to a column, or asks first. */
export function takeCard(card: Card, to: ColumnId, ask: (question: Question) => void) {
  const task = card.task.id;
  const meaning = meaningOf(card, to);
  switch (meaning.kind) {
    case "nothing":
      return;
    case "refused":
      return say(meaning.why);
    case "move":
      return moveTask(task, to);
    case "start":
      return startTask(task);
    case "reply":
      return openAttempt(meaning.attempt, "reply");
    default:
      ask({ task, to, meaning });
  }
}

/** The columns that a card can go to. */
export const moveItems = (card: Card, take: BoardActs["take"]): MenuItem[] =>
  COLUMNS.map(({ id, words }) => {
    const meaning = meaningOf(card, id);
    return {
      words,
      isChosen: card.task.status === id,
      disabled: meaning.kind === "refused" ? meaning.why : null,
      run: () => take(card.task.id, id),
    };
  });
