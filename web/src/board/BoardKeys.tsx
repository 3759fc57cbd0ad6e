// What the keys do on a board: they move the focus, and act on the card that has it.

import { useLocation } from "wouter";
import { useWorld, world } from "../api/world";
import { useAway } from "../app/away";
import { useActions } from "../app/keys";
import { openOverlay } from "../app/overlays";
import { prefer, preferences } from "../app/preferences";
import { deleteTask, moveTask, openAttempt, placeTask, startTask, stopAttempt } from "../app/task-acts";
import { COLUMNS, type ColumnId } from "../facts/state";
import { useAnswer } from "../ui/answer";
import { active, focusCard, select, toggleSelected, useActive } from "./active";
import { placeOf, useBoard } from "./BoardContext";
import { ownDoing } from "./calm";
import { cardOf, isLive, sameCard } from "./cards";
import { afterLeaving, neighbour, type Way } from "./focus";

type Props = {
  /** What is shown, from left to right. */
  columns: ReadonlyArray<readonly string[]>;
  project: string | null;
  toggleView: () => void;
  filter: () => void;
  /** Opens or closes the look at the card that has the focus. */
  peek: () => void;
};

export function BoardKeys({ columns, project, toggleView, filter, peek }: Props) {
  const { menu, moveMenu, take } = useBoard();
  const [, go] = useLocation();
  const away = useAway();
  const id = useActive((active) => active.card);
  const card = useWorld((world) => (id ? cardOf(world, id) : undefined), sameCard);
  const { answer } = useAnswer(card?.facts.ask ?? null);
  const isHere = card !== undefined && columns.some((column) => column.includes(card.task.id));
  const step = (way: Way) => () => {
    const to = neighbour(columns, active().card, way);
    if (to) focusCard(to);
  };
  useActions("board", {
    up: step("up"),
    down: step("down"),
    left: step("left"),
    right: step("right"),
    first: step("first"),
    last: step("last"),
    peek: isHere ? peek : undefined,
    toggleView,
    showCancelled: () => prefer({ cancelledShown: !preferences().cancelledShown }),
  });
  useActions("everywhere", {
    filter,
    newTask: () => openOverlay({ name: "new task", project: project ?? card?.task.project_id ?? null }),
  });

  const task = card?.task;
  const attempt = card?.facts.attempt;
  const canAct = isHere && card && task && !away;
  const own = (run: () => void) => () => {
    ownDoing();
    run();
  };
  const leave = (run: () => void) => () => {
    if (!task) return;
    ownDoing();
    const next = afterLeaving(columns, task.id);
    run();
    if (next) focusCard(next);
  };
  useActions(
    "board",
    canAct
      ? {
          startTask: attempt && isLive(card) ? undefined : own(() => startTask(task.id)),
          moveTask: () => moveMenu(task.id, placeOf(task.id)),
          moveLeft: own(() => shift(task.id, -1, take)),
          moveRight: own(() => shift(task.id, 1, take)),
          moveUp: task.status === "todo" ? own(() => nudge(columns, task.id, -1)) : undefined,
          moveDown: task.status === "todo" ? own(() => nudge(columns, task.id, 1)) : undefined,
          cardMenu: () => menu(task.id, placeOf(task.id)),
          allowCard: card.facts.ask?.kind === "permission" ? own(() => answer(true)) : undefined,
          denyCard: card.facts.ask?.kind === "permission" ? own(() => answer(false)) : undefined,
          replyTask: attempt ? () => openAttempt(attempt.id, "reply") : undefined,
          editTask: () => openOverlay({ name: "new task", project: task.project_id, task: task.id }),
          duplicateTask: () => openOverlay({ name: "new task", project: task.project_id, copy: task.id }),
          subtask: attempt
            ? () => openOverlay({ name: "new task", project: task.project_id, parent: attempt.id })
            : undefined,
          archiveTask:
            task.status !== "archived" && !isLive(card)
              ? leave(() => moveTask(task.id, "archived"))
              : undefined,
          deleteTask: isLive(card) ? undefined : leave(() => void deleteTask(task.id)),
          stopTask: attempt && isLive(card) ? own(() => void stopAttempt(task.id, attempt.id)) : undefined,
          selectTask: () => toggleSelected(task.id),
          selectRange: () => select(range(columns, task.id)),
          anotherAttempt: attempt ? () => openOverlay({ name: "start", task: task.id }) : undefined,
          compare: card.attempts > 1 ? () => go(`/t/${task.id}/compare`) : undefined,
        }
      : {},
  );
  return null;
}

/** One column to the left or right, over those that are shown. */
function shift(id: string, by: -1 | 1, take: (task: string, to: ColumnId) => void) {
  const status = world().tasks.get(id)?.status;
  const { cancelledShown } = preferences();
  const order = COLUMNS.filter((column) => column.id !== "cancelled" || cancelledShown);
  const to = order[order.findIndex((column) => column.id === status) + by];
  if (to) take(id, to.id);
}

function nudge(columns: Props["columns"], id: string, by: -1 | 1) {
  const column = columns.find((list) => list.includes(id));
  const at = column?.indexOf(id) ?? -1;
  if (!column || at + by < 0 || at + by >= column.length) return;
  placeTask(id, column[by < 0 ? at - 1 : at + 2] ?? null);
}

/** Everything from the nearest selected card of the column to this one. */
function range(columns: Props["columns"], id: string): Set<string> {
  const selected = new Set(active().selected);
  const column = columns.find((list) => list.includes(id)) ?? [];
  const to = column.indexOf(id);
  const from = column.findLastIndex((other, index) => index <= to && selected.has(other));
  for (const other of column.slice(from < 0 ? to : from, to + 1)) selected.add(other);
  return selected;
}
