// Where a comment stands now: at its line if that still reads as it did, where the line went, or at its old place and
// stale. Pure.

import type { Side } from "./rows";

/** So much of a line is quoted, and known again. */
export const QUOTED = 400;

export type Anchored = { line: number; isStale: boolean };

type Placed = { line: number; end_line?: number | null; quote: string };

/** `lines` are those of the comment's side, as they are now. The answer is the last line of what it is about. */
export function anchor(comment: Placed, lines: readonly string[]): Anchored {
  const quote = comment.quote.split("\n");
  const length = Math.max(1, (comment.end_line ?? comment.line) - comment.line + 1);
  const reads = (first: number) =>
    quote.slice(0, length).every((line, n) => lines[first - 1 + n]?.slice(0, QUOTED) === line);
  const last = (first: number) => first + Math.min(length, quote.length) - 1;
  if (reads(comment.line)) return { line: last(comment.line), isStale: false };
  // A line that says little stands in many places: only one that says something is looked for.
  if (quote.join("").trim().length >= 4) {
    for (let distance = 1; distance < lines.length; distance += 1) {
      for (const first of [comment.line - distance, comment.line + distance])
        if (first >= 1 && reads(first)) return { line: last(first), isStale: false };
    }
  }
  return { line: Math.max(1, Math.min(comment.end_line ?? comment.line, lines.length)), isStale: true };
}

/** `line 4`, `lines 4 to 6`, `old line 4`. */
export function placeWords(side: Side, line: number, end: number | null | undefined): string {
  const from = side === "old" ? "old " : "";
  return end && end !== line ? `${from}lines ${line} to ${end}` : `${from}line ${line}`;
}
