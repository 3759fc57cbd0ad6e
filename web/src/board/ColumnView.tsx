// One column: its name and count, its cards in a virtual list, and what it says while a card is dragged over it.

import { memo, useMemo, useRef, useState } from "react";
import { VList } from "virtua";
import { useWorld } from "../api/world";
import { openOverlay } from "../app/overlays";
import { prefer, usePreferences } from "../app/preferences";
import { moveTasks } from "../app/task-acts";
import { COLUMNS, type ColumnId } from "../facts/state";
import { Button } from "../ui/Button";
import { MenuButton } from "../ui/Menu";
import { counted } from "../ui/numbers";
import { useActive } from "./active";
import styles from "./Board.module.css";
import { useBoard } from "./BoardContext";
import { CardView } from "./CardView";
import { ownDoing } from "./calm";
import { cardOf } from "./cards";
import { useLanding } from "./dragging";
import { meaningOf } from "./moves";
import { SORTS } from "./order";

/** How many of the done ones are shown before somebody asks for the rest. */
export const SHOWN_DONE = 20;

type Props = {
  column: ColumnId;
  ids: readonly string[];
  /** How many there are, also those that the filter hides. */
  count: number;
  project: string | null;
  isFiltered: boolean;
};

export const ColumnView = memo(function ColumnView({ column, ids, count, project, isFiltered }: Props) {
  const { words, empty } = COLUMNS.find(({ id }) => id === column) ?? COLUMNS[0];
  const { take } = useBoard();
  const { columnSort } = usePreferences();
  const [isAll, setAll] = useState(false);
  const element = useRef<HTMLElement>(null);
  const isByHand = column === "todo" && (columnSort.todo ?? "own") === "own";
  const { isOver, line } = useLanding(element, column, isByHand, (task, before) =>
    take(task, column, before),
  );
  const refusal = useRefusal(column);

  const folded = column === "done" && !isAll && !isFiltered ? Math.max(0, ids.length - SHOWN_DONE) : 0;
  const shown = useMemo(() => (folded > 0 ? ids.slice(0, SHOWN_DONE) : ids), [ids, folded]);
  const activeHere = useActive((active) => (active.card && shown.includes(active.card) ? active.card : null));
  const draggedHere = useActive((active) =>
    active.dragged && shown.includes(active.dragged) ? active.dragged : null,
  );
  const tabStop = activeHere ?? shown[0];
  const kept = useMemo(
    () => [0, ...[activeHere, draggedHere].map((id) => (id ? shown.indexOf(id) : -1)).filter((at) => at > 0)],
    [shown, activeHere, draggedHere],
  );
  return (
    <section
      ref={element}
      className={styles.column}
      aria-label={words}
      data-column={column}
      data-over={isOver || undefined}
      data-refused={refusal !== null || undefined}
    >
      <header className={styles.columnHead}>
        <h2>{words}</h2>
        <span className={styles.columnCount}>
          {isFiltered && count > 0 ? `${ids.length} of ${count}` : count}
        </span>
        {refusal && <span className={styles.refusal}>{refusal}</span>}
        <span className={styles.space} />
        <MenuButton
          kind="quiet"
          size="small"
          icon="down"
          label={`Order of ${words}`}
          items={() =>
            SORTS.map(({ id, words }) => ({
              words: id === "own" && column === "todo" ? "By hand" : words,
              isChosen: (columnSort[column] ?? "own") === id,
              run: () => prefer({ columnSort: { ...columnSort, [column]: id } }),
            }))
          }
        />
        {column === "todo" && (
          <Button
            kind="quiet"
            size="small"
            icon="plus"
            label="New task in Wish"
            onClick={() => openOverlay({ name: "new task", project })}
          />
        )}
      </header>
      {shown.length === 0 ? (
        <p className={styles.emptyColumn}>{isFiltered && count > 0 ? "Nothing matches here." : empty}</p>
      ) : (
        <VList
          className={styles.list}
          role="list"
          aria-label={`${words}, ${counted(count, "task")}`}
          data-scroll="list"
          data-windowed
          data={shown as string[]}
          itemSize={82}
          keepMounted={kept}
        >
          {(id, index) => (
            <CardView key={id} id={id} isTabStop={id === tabStop} index={index} of={shown.length} />
          )}
        </VList>
      )}
      {line !== null && <div className={styles.line} style={{ top: line }} />}
      {folded > 0 && (
        <footer className={styles.older}>
          <span>{folded} older</span>
          <Button size="small" kind="quiet" label={`Show ${folded} older`} onClick={() => setAll(true)}>
            Show
          </Button>
          <Button
            size="small"
            label={`Archive ${folded} older`}
            onClick={() => {
              ownDoing();
              void moveTasks(ids.slice(SHOWN_DONE), "archived");
            }}
          >
            Archive
          </Button>
        </footer>
      )}
    </section>
  );
});

/** Why the card that is being dragged cannot land here; null when it can, or nothing is dragged. */
function useRefusal(column: ColumnId): string | null {
  const dragged = useActive((active) => active.dragged);
  return useWorld((world) => {
    const card = dragged && cardOf(world, dragged);
    if (!card) return null;
    const meaning = meaningOf(card, column);
    return meaning.kind === "refused" ? meaning.why : null;
  });
}
