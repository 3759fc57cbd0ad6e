// One row of a comparison: line numbers, signs, code, and the comments under it.

import type { ReactNode } from "react";
import { Code } from "./Code";
import type { Painted } from "./highlight";
import styles from "./Lines.module.css";
import { type Cell, type Row, startsChange } from "./rows";

export type Paints = { old: Painted | null; new: Painted | null };

type Props = {
  at: number;
  row: Exclude<Row, { type: "fold" }>;
  isSplit: boolean;
  paints: Paints;
  isIn: (cell: Cell) => boolean;
  onDown: (cell: Cell) => void;
  onOver: (cell: Cell) => void;
  onClick: (cell: Cell) => void;
  notes: ReactNode[];
};

export function LineRow({ at, row, isSplit, paints, isIn, onDown, onOver, onClick, notes }: Props) {
  const number = (cell: Cell) => (
    <div role="cell" className={styles.number} data-in={isIn(cell) || undefined}>
      <button
        type="button"
        tabIndex={-1}
        aria-label={`Comment on ${cell.side === "old" ? "old " : ""}line ${cell.number}`}
        // Dragging chooses lines here, not text.
        onMouseDown={(event) => event.preventDefault()}
        onPointerDown={(event) => {
          // A finger that moves here scrolls.
          if (event.button === 0 && event.pointerType !== "touch") onDown(cell);
        }}
        onPointerEnter={() => onOver(cell)}
        onClick={() => onClick(cell)}
      >
        {cell.number}
      </button>
    </div>
  );
  const quiet = (cell: Cell | null) => (
    <div role="cell" className={styles.number}>
      {cell?.number}
    </div>
  );
  const code = (cell: Cell, sign: string) => (
    <div role="cell" className={styles.code} data-in={isIn(cell) || undefined}>
      <span className={styles.sign}>{sign}</span>
      <Code text={cell.text} marks={cell.marks} tokens={paints[cell.side]?.line(cell.number) ?? null} />
    </div>
  );
  const blank = <div role="cell" className={styles.blank} />;
  const about = {
    role: "row",
    tabIndex: -1,
    "data-row": at,
    "data-starts": startsChange(row) || undefined,
  } as const;

  return (
    <>
      {isSplit ? (
        <div {...about} className={styles.row} data-type={row.type}>
          {row.type === "same" ? (
            <>
              {quiet(row.old)}
              {code(row.old, " ")}
              {number(row.new)}
              {code(row.new, " ")}
            </>
          ) : (
            row.type === "pair" && (
              <>
                {row.old ? number(row.old) : quiet(null)}
                {row.old ? <Half type="gone">{code(row.old, "-")}</Half> : blank}
                {row.new ? number(row.new) : quiet(null)}
                {row.new ? <Half type="came">{code(row.new, "+")}</Half> : blank}
              </>
            )
          )}
        </div>
      ) : (
        <div {...about} className={styles.row} data-type={row.type}>
          {row.type === "same" && (
            <>
              {quiet(row.old)}
              {number(row.new)}
              {code(row.new, " ")}
            </>
          )}
          {row.type === "gone" && (
            <>
              {number(row.old)}
              {quiet(null)}
              {code(row.old, "-")}
            </>
          )}
          {row.type === "came" && (
            <>
              {quiet(null)}
              {number(row.new)}
              {code(row.new, "+")}
            </>
          )}
        </div>
      )}
      {notes.length > 0 && (
        <div role="row" tabIndex={-1} className={styles.notes}>
          <div role="cell">{notes}</div>
        </div>
      )}
    </>
  );
}

const Half = ({ type, children }: { type: "gone" | "came"; children: ReactNode }) => (
  <div role="presentation" className={styles.half} data-type={type}>
    {children}
  </div>
);
