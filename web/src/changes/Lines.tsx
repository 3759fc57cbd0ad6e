// The lines of one file's comparison, in pieces of which only those near the screen are drawn.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { anchor, QUOTED } from "./anchors";
import { CommentBox, CommentNote } from "./CommentBox";
import type { Comment } from "./comments";
import { LineRow, type Paints } from "./LineRow";
import styles from "./Lines.module.css";
import { useReader } from "./reader";
import { type Cell, type Compared, cellOf, moreOf, type Row, rowsOf, type Side } from "./rows";

const PIECE = 50;
const HEIGHT = 20;

type Props = { path: string; both: Compared };

export function Lines({ path, both }: Props) {
  const reader = useReader();
  const { isSplit, comments, paint, scroller } = reader;
  const [opened, setOpened] = useState(() => reader.opened.get(path) ?? new Map<number, number>());
  const rows = useMemo(() => rowsOf(both, { isSplit, opened }), [both, isSplit, opened]);
  useEffect(() => {
    reader.rows.set(path, rows);
    return () => void reader.rows.delete(path);
  }, [reader.rows, path, rows]);
  const paints = useMemo<Paints>(() => {
    const language = paint?.languageOf(path);
    if (!paint || !language) return { old: null, new: null };
    return { old: new paint.Painted(both.before, language), new: new paint.Painted(both.after, language) };
  }, [paint, path, both]);

  const mine = comments.comments.filter((comment) => comment.path === path);
  const placed = new Map<string, Array<{ comment: Comment; isStale: boolean }>>();
  for (const comment of mine) {
    const { line, isStale } = anchor(comment, comment.side === "old" ? both.before : both.after);
    const key = `${comment.side}:${line}`;
    placed.set(key, [...(placed.get(key) ?? []), { comment, isStale }]);
  }
  const { writing } = comments;
  const isHere = writing?.path === path && !writing.id;

  const [range, setRange] = useState<{ side: Side; from: number; to: number } | null>(null);
  const begin = (side: Side, from: number, to: number) => {
    const [line, end] = from < to ? [from, to] : [to, from];
    const lines = side === "old" ? both.before : both.after;
    // Enough to know the place again.
    const quote = lines
      .slice(line - 1, Math.min(end, line + 39))
      .map((text) => text.slice(0, QUOTED))
      .join("\n");
    void comments.begin({ id: null, path, side, line, end_line: end, quote, text: "" });
  };
  // Kept beside the state: the pointer may be quicker than the page is drawn.
  const drag = useRef<typeof range>(null);
  const hold = (next: typeof range) => {
    drag.current = next;
    setRange(next);
  };
  const down = (cell: Cell) => {
    hold({ side: cell.side, from: cell.number, to: cell.number });
    const up = () => {
      const held = drag.current;
      hold(null);
      // A click on one line comes as a click.
      if (held && held.from !== held.to) begin(held.side, held.from, held.to);
    };
    addEventListener("pointerup", up, { once: true });
  };
  const over = (cell: Cell) => {
    if (drag.current?.side === cell.side) hold({ ...drag.current, to: cell.number });
  };

  const isIn = (cell: Cell) => {
    const at =
      range ??
      (isHere && writing ? { ...writing, from: writing.line, to: writing.end_line ?? writing.line } : null);
    if (!at || at.side !== cell.side) return false;
    return Math.min(at.from, at.to) <= cell.number && cell.number <= Math.max(at.from, at.to);
  };

  const below = (row: Row) => {
    const cells = row.type === "fold" ? [] : [oldOf(row), newOf(row)].filter((cell) => cell !== null);
    return cells.flatMap((cell) => {
      const key = `${cell.side}:${cell.number}`;
      const boxes = (placed.get(key) ?? []).map(({ comment, isStale }) => (
        <CommentNote key={comment.id} comment={comment} isStale={isStale} />
      ));
      if (isHere && writing.side === cell.side && (writing.end_line ?? writing.line) === cell.number)
        boxes.push(<CommentBox key="writing" />);
      return boxes;
    });
  };

  // A comment on a line that is folded away stands above the lines, not nowhere.
  const shownKeys = new Set(
    mine.length === 0
      ? []
      : rows.flatMap((row) =>
          row.type === "fold"
            ? []
            : [oldOf(row), newOf(row)].flatMap((cell) => (cell ? [`${cell.side}:${cell.number}`] : [])),
        ),
  );
  const unplaced = [...placed].filter(([key]) => !shownKeys.has(key)).flatMap(([, notes]) => notes);

  const pieces: Row[][] = [];
  for (let at = 0; at < rows.length; at += PIECE) pieces.push(rows.slice(at, at + PIECE));
  const digits = String(Math.max(both.before.length, both.after.length)).length;
  return (
    <>
      {unplaced.length > 0 && (
        <div className={styles.unplaced}>
          {unplaced.map(({ comment, isStale }) => (
            <CommentNote key={comment.id} comment={comment} isStale={isStale} />
          ))}
        </div>
      )}
      <div
        role="table"
        aria-label={`${path}, changes`}
        className={styles.table}
        data-split={isSplit || undefined}
        style={{ "--digits": digits } as React.CSSProperties}
      >
        {pieces.map((piece, index) => (
          <Piece key={index} index={index} count={piece.length} scroller={scroller}>
            {() =>
              piece.map((row, n) => {
                const at = index * PIECE + n;
                if (row.type === "fold")
                  return (
                    <div role="row" tabIndex={-1} key={`fold ${row.at}`} className={styles.fold}>
                      <div role="cell">
                        <button
                          type="button"
                          onClick={() => {
                            const next = new Map(opened).set(row.at, moreOf(opened.get(row.at)));
                            reader.opened.set(path, next);
                            setOpened(next);
                          }}
                        >
                          {row.count} lines are the same. Show {row.count > 100 ? "100 of them" : "them"}
                        </button>
                      </div>
                    </div>
                  );
                const notes = below(row);
                return (
                  <LineRow
                    key={at}
                    at={at}
                    row={row}
                    isSplit={isSplit}
                    paints={paints}
                    isIn={isIn}
                    onDown={down}
                    onOver={over}
                    onClick={(cell) => begin(cell.side, cell.number, cell.number)}
                    notes={notes}
                  />
                );
              })
            }
          </Piece>
        ))}
      </div>
    </>
  );
}

const oldOf = (row: Exclude<Row, { type: "fold" }>) =>
  row.type === "gone" || row.type === "pair" ? row.old : null;
const newOf = (row: Exclude<Row, { type: "fold" }>) =>
  row.type === "gone" ? null : cellOf(row, "new")?.side === "new" ? cellOf(row, "new") : null;

type PieceProps = {
  index: number;
  count: number;
  scroller: () => HTMLElement | null;
  children: () => React.ReactNode;
};

// A piece that is far from the screen is an empty box of the height that it had.
function Piece({ index, count, scroller, children }: PieceProps) {
  const box = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(index === 0);
  const height = useRef(count * HEIGHT);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry) return;
        if (!entry.isIntersecting && element.childElementCount > 0) height.current = element.offsetHeight;
        // Whoever writes or reads with the keyboard keeps what has the focus.
        if (entry.isIntersecting || !element.contains(document.activeElement)) setNear(entry.isIntersecting);
      },
      { root: scroller(), rootMargin: "800px 0px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
  // What is drawn above the screen and is higher than was thought must not move what is on it.
  useLayoutEffect(() => {
    const [element, around] = [box.current, scroller()];
    if (!isNear || !element || !around) return;
    const more = element.offsetHeight - height.current;
    height.current = element.offsetHeight;
    if (more !== 0 && element.getBoundingClientRect().bottom < around.getBoundingClientRect().top + more)
      around.scrollTop += more;
  }, [isNear, scroller]);
  return (
    <div ref={box} role="rowgroup" data-piece={index} style={isNear ? undefined : { height: height.current }}>
      {isNear && children()}
    </div>
  );
}
