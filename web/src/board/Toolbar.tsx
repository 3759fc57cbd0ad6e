// What can be done to several cards at once.

import { world } from "../api/world";
import { useAway } from "../app/away";
import { say } from "../app/notices";
import { deleteTasks, moveTasks, startTask } from "../app/task-acts";
import { COLUMNS, type ColumnId } from "../facts/state";
import { Button } from "../ui/Button";
import { MenuButton } from "../ui/Menu";
import { counted } from "../ui/numbers";
import { select, useActive } from "./active";
import styles from "./Board.module.css";
import { ownDoing } from "./calm";
import { cardOf, isLive } from "./cards";
import { meaningOf } from "./moves";

export function Toolbar() {
  const selected = useActive((active) => active.selected);
  const away = useAway();
  if (selected.size === 0) return null;
  const ids = [...selected];
  return (
    <div className={styles.toolbar} role="toolbar" aria-label={`${selected.size} selected`}>
      <b>{selected.size} selected</b>
      <MenuButton
        size="small"
        label="Move to: the selected tasks"
        items={() => COLUMNS.map(({ id, words }) => ({ words, disabled: away, run: () => takeAll(ids, id) }))}
      >
        Move to
      </MenuButton>
      <Button size="small" disabled={away} onClick={() => takeAll(ids, "archived")}>
        Archive
      </Button>
      <Button
        size="small"
        kind="danger"
        disabled={away}
        onClick={() => {
          ownDoing();
          select([]);
          void deleteTasks(ids);
        }}
      >
        Delete
      </Button>
      <Button size="small" kind="quiet" icon="close" label="Clear the selection" onClick={() => select([])} />
    </div>
  );
}

/** Takes several cards to a column. What would ask something is left where it is, and said. */
export function takeAll(ids: readonly string[], to: ColumnId) {
  ownDoing();
  const cards = ids.flatMap((id) => cardOf(world(), id) ?? []);
  const kinds = cards.map((card) => ({ card, kind: meaningOf(card, to).kind }));
  const moved = kinds.filter(({ kind }) => kind === "move").map(({ card }) => card.task.id);
  if (moved.length > 0) void moveTasks(moved, to);
  for (const { card, kind } of kinds) if (kind === "start" && !isLive(card)) startTask(card.task.id);
  const left = kinds.filter(({ kind }) => kind.startsWith("ask") || kind === "reply" || kind === "refused");
  if (left.length > 0) say(`${counted(left.length, "task")} must be moved one by one.`);
  select(left.map(({ card }) => card.task.id));
}
