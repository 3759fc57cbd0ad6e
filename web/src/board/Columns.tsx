// The columns beside each other; on a phone one at a time, with a switch and a swipe between them.

import { type TouchEvent, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { sameList } from "../api/world";
import { prefer } from "../app/preferences";
import { type ColumnId, columnWords } from "../facts/state";
import { Boundary } from "../ui/Boundary";
import { Icon } from "../ui/Icon";
import { active, focusCard } from "./active";
import styles from "./Board.module.css";
import { useBoard } from "./BoardContext";
import { ColumnView } from "./ColumnView";
import type { Arrangement } from "./cards";
import { useAutoScroll, useLanding } from "./dragging";
import { afterLeaving } from "./focus";

type Props = {
  /** The columns that are open, from left to right. */
  ids: readonly ColumnId[];
  shown: Arrangement;
  counts: Arrangement["counts"];
  project: string | null;
  isFiltered: boolean;
};

export function Columns(props: Props) {
  const isNarrow = useNarrow();
  const stable = useStable(props.shown.columns);
  const board = useFocusThatTravels(props.ids.map((id) => stable[id]));
  useAutoScroll();
  const column = (id: ColumnId) => (
    <Boundary key={id} what="This column">
      <ColumnView
        column={id}
        ids={stable[id]}
        count={props.counts[id]}
        project={props.project}
        isFiltered={props.isFiltered}
      />
    </Boundary>
  );
  return (
    <div ref={board} className={isNarrow ? styles.one : styles.columns} data-scroll="board">
      {isNarrow ? (
        <OneColumn {...props} column={column} />
      ) : (
        <>
          {props.ids.map(column)}
          {!props.ids.includes("archived") && <ArchivedStrip count={props.counts.archived} />}
        </>
      )}
    </div>
  );
}

function ArchivedStrip({ count }: { count: number }) {
  const { take } = useBoard();
  const element = useRef<HTMLButtonElement>(null);
  const { isOver } = useLanding(element, "archived", false, (task) => take(task, "archived"));
  return (
    <button
      ref={element}
      type="button"
      className={styles.strip}
      data-column="archived"
      data-over={isOver || undefined}
      aria-label={`Show archived, ${count}`}
      onClick={() => prefer({ archivedShown: true })}
    >
      <Icon name="right" size={14} />
      <span>Archived {count}</span>
    </button>
  );
}

const SWIPE = 60;
let lastColumn: ColumnId | null = null;

function OneColumn({ ids, counts, column }: Props & { column: (id: ColumnId) => React.ReactNode }) {
  const all: ColumnId[] = ids.includes("archived") ? [...ids] : [...ids, "archived"];
  const [chosen, setChosen] = useState<ColumnId | null>(lastColumn);
  const at = chosen ?? (counts.inreview > 0 ? "inreview" : counts.inprogress > 0 ? "inprogress" : "todo");
  const choose = (id: ColumnId) => {
    lastColumn = id;
    setChosen(id);
  };
  const start = useRef<{ x: number; y: number } | null>(null);
  const swipe = {
    onTouchStart({ touches }: TouchEvent) {
      const touch = touches.length === 1 ? touches[0] : undefined;
      start.current = touch ? { x: touch.clientX, y: touch.clientY } : null;
    },
    onTouchEnd({ changedTouches }: TouchEvent) {
      const [from, touch] = [start.current, changedTouches[0]];
      if (!from || !touch) return;
      const [x, y] = [touch.clientX - from.x, touch.clientY - from.y];
      const next = all[all.indexOf(at) + (x < 0 ? 1 : -1)];
      if (Math.abs(x) > SWIPE && Math.abs(x) > 2 * Math.abs(y) && next) choose(next);
    },
  };
  return (
    <>
      <div className={styles.segments} role="radiogroup" aria-label="Column">
        {all.map((id) => (
          <label key={id} data-chosen={id === at || undefined}>
            <input
              type="radio"
              name="column"
              className="unseen"
              checked={id === at}
              aria-label={`${columnWords(id)} ${counts[id]}`}
              onChange={() => choose(id)}
            />
            {columnWords(id)} <b>{counts[id]}</b>
          </label>
        ))}
      </div>
      <div className={styles.single} {...swipe}>
        {column(at)}
      </div>
    </>
  );
}

const narrow = matchMedia("(max-width: 899px)");
const useNarrow = () =>
  useSyncExternalStore(
    (changed) => {
      narrow.addEventListener("change", changed);
      return () => narrow.removeEventListener("change", changed);
    },
    () => narrow.matches,
  );

/** The same lists as before where nothing changed, so that only columns that did are drawn. */
function useStable(columns: Arrangement["columns"]): Arrangement["columns"] {
  const last = useRef(columns);
  const stable = { ...columns };
  for (const id of Object.keys(columns) as ColumnId[])
    if (sameList(columns[id], last.current[id])) stable[id] = last.current[id];
  useEffect(() => {
    last.current = stable;
  });
  return stable;
}

/** Keeps the focus on a card that is drawn elsewhere, and gives it to a neighbour when a card has gone. */
function useFocusThatTravels(columns: ReadonlyArray<readonly string[]>) {
  const board = useRef<HTMLDivElement>(null);
  const hadFocus = useRef(false);
  const before = useRef(columns);
  // Who comes back to the board finds the focus where it was.
  useEffect(() => {
    const { card } = active();
    if (card && document.activeElement === document.body) focusCard(card);
    const note = () => {
      hadFocus.current = board.current?.contains(document.activeElement) ?? false;
    };
    document.addEventListener("focusin", note);
    return () => document.removeEventListener("focusin", note);
  }, []);
  useLayoutEffect(() => {
    const { card } = active();
    if (card && hadFocus.current && document.activeElement === document.body) {
      const isThere = columns.some((list) => list.includes(card));
      const to = isThere ? card : afterLeaving(before.current, card);
      if (to) focusCard(to);
    }
    before.current = columns;
  });
  return board;
}
