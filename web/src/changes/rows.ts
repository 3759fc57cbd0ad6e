// The rows in which a file's comparison is drawn: changed lines with a few around them, the rest folded. Pure.

import { compare, linesOf, withoutSpace } from "./lines";
import { type Mark, wordMarks } from "./words";

export type Side = "old" | "new";

/** One line of one side. `number` is counted from 1. */
export type Cell = { side: Side; number: number; text: string; marks: readonly Mark[] | null };

export type Row =
  /** A line that both sides have. */
  | { type: "same"; old: Cell; new: Cell }
  /** One line, of one side (unified). */
  | { type: "gone"; old: Cell; startsChange: boolean }
  | { type: "came"; new: Cell; startsChange: boolean }
  /** What went beside what came for it (split). */
  | { type: "pair"; old: Cell | null; new: Cell | null; startsChange: boolean }
  /** Lines that are the same and not shown. `at` names the fold: its first line on the new side. */
  | { type: "fold"; at: number; count: number };

/** What is the same for a text, however it is shown. */
export type Compared = {
  before: string[];
  after: string[];
  edits: ReturnType<typeof compare>;
  added: number;
  deleted: number;
};

export function compared(before: string | null, after: string | null, isSpaceIgnored: boolean): Compared {
  const [a, b] = [linesOf(before), linesOf(after)];
  const edits = compare(a, b, isSpaceIgnored ? withoutSpace : undefined);
  let [added, deleted] = [0, 0];
  for (const edit of edits) {
    if (edit.kind === "same") continue;
    added += edit.came;
    deleted += edit.gone;
  }
  return { before: a, after: b, edits, added, deleted };
}

const AROUND = 3;
/** A fold shorter than this is not worth a click. */
const LEAST = 4;
/** How many lines one click shows. */
const STEP = 100;

type How = {
  isSplit: boolean;
  /** By fold: how many of its lines are shown, from its end upwards (from its beginning for the last fold). */
  opened: ReadonlyMap<number, number>;
};

export const moreOf = (shown: number | undefined) => (shown ?? 0) + STEP;

export function rowsOf({ before, after, edits }: Compared, { isSplit, opened }: How): Row[] {
  const rows: Row[] = [];
  const old = (n: number, marks: readonly Mark[] | null = null): Cell => ({
    side: "old",
    number: n + 1,
    text: before[n] ?? "",
    marks,
  });
  const now = (n: number, marks: readonly Mark[] | null = null): Cell => ({
    side: "new",
    number: n + 1,
    text: after[n] ?? "",
    marks,
  });
  edits.forEach((edit, index) => {
    if (edit.kind === "same") {
      const [isFirst, isLast] = [index === 0, index === edits.length - 1];
      const head = isFirst ? 0 : AROUND;
      const tail = isLast ? 0 : AROUND;
      let hidden = edit.count - head - tail;
      if (hidden < LEAST || (isFirst && isLast)) hidden = 0;
      const shown = Math.min(hidden, opened.get(edit.new) ?? 0);
      hidden -= shown;
      const from = head + (isLast ? shown : 0);
      for (let n = 0; n < edit.count; n += 1) {
        if (hidden > 0 && n === from) {
          rows.push({ type: "fold", at: edit.new, count: hidden });
          n += hidden - 1;
        } else rows.push({ type: "same", old: old(edit.old + n), new: now(edit.new + n) });
      }
      return;
    }
    const pairs = Math.min(edit.gone, edit.came);
    const marked = Array.from({ length: pairs }, (_, n) =>
      // A stretch of hundreds of lines is read as a whole.
      pairs > 200 ? null : wordMarks(before[edit.old + n] ?? "", after[edit.new + n] ?? ""),
    );
    if (isSplit) {
      for (let n = 0; n < Math.max(edit.gone, edit.came); n += 1)
        rows.push({
          type: "pair",
          old: n < edit.gone ? old(edit.old + n, marked[n]?.before) : null,
          new: n < edit.came ? now(edit.new + n, marked[n]?.after) : null,
          startsChange: n === 0,
        });
      return;
    }
    for (let n = 0; n < edit.gone; n += 1)
      rows.push({ type: "gone", old: old(edit.old + n, marked[n]?.before), startsChange: n === 0 });
    for (let n = 0; n < edit.came; n += 1)
      rows.push({
        type: "came",
        new: now(edit.new + n, marked[n]?.after),
        startsChange: n === 0 && edit.gone === 0,
      });
  });
  return rows;
}

/** The line that a comment on this row is about, on that side or on the one that it has. */
export function cellOf(row: Row, side?: Side): Cell | null {
  switch (row.type) {
    case "fold":
      return null;
    case "gone":
      return row.old;
    case "came":
      return row.new;
    default:
      return (side === "old" ? row.old : row.new) ?? row.old ?? row.new;
  }
}

export const startsChange = (row: Row) => "startsChange" in row && row.startsChange;
