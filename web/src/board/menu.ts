// What the menu of a card offers; what cannot be done now says why.

import { actionOf } from "../app/actions";
import { copy } from "../app/copy";
import { shown } from "../app/keys";
import { openOverlay } from "../app/overlays";
import { deleteTask, moveTask, openAttempt, startTask, stopAttempt } from "../app/task-acts";
import { COLUMNS } from "../facts/state";
import type { MenuItem } from "../ui/Menu";
import type { BoardActs } from "./BoardContext";
import { ownDoing } from "./calm";
import { type Card, isLive } from "./cards";
import { hrefOf } from "./Meta";
import { meaningOf } from "./moves";

type Go = (to: string) => void;

const hint = (id: Parameters<typeof actionOf>[0]) =>
  actionOf(id).keys[0] && shown(actionOf(id).keys[0] ?? "");

/** The menu of a card. `moveTo` opens the choice of columns at the same place. */
export function menuOf(card: Card, away: string | null, go: Go, moveTo: () => void): MenuItem[] {
  const { task, facts } = card;
  const { attempt } = facts;
  const id = task.id;
  const own = (run: () => void) => () => {
    ownDoing();
    run();
  };
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
    { words: "Move to…", hint: hint("moveTask"), disabled: away, run: moveTo },
    {
      words: "Edit",
      hint: hint("editTask"),
      run: () => openOverlay({ name: "new task", project: task.project_id, task: id }),
    },
    {
      words: "Duplicate",
      run: () => openOverlay({ name: "new task", project: task.project_id, copy: id }),
    },
    {
      words: "Subtask",
      disabled: attempt ? null : "A subtask grows out of an attempt: start it first.",
      run: () => attempt && openOverlay({ name: "new task", project: task.project_id, parent: attempt.id }),
    },
    { words: "Copy link", run: () => void copy(`${location.origin}/t/${id}`, "The link") },
    "line",
    task.status === "archived"
      ? { words: "Bring back", disabled: away, run: own(() => moveTask(id, attempt ? "done" : "todo")) }
      : {
          words: "Archive",
          hint: hint("archiveTask"),
          disabled: away || (isLive(card) ? "An agent is at it: stop it first." : null),
          run: own(() => moveTask(id, "archived")),
        },
    {
      words: "Delete",
      hint: "Del",
      isDanger: true,
      disabled: away || (isLive(card) ? "An agent is at it: stop it first." : null),
      run: own(() => void deleteTask(id)),
    },
  ];
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
