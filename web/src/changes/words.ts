// Which words of two lines differ, so that a small change in a long line is seen at once.

import { compare } from "./lines";

/** From and to, as places in the text. */
export type Mark = readonly [from: number, to: number];

const LONGEST = 1000;

/** The marks of a line that went and of the one that came for it; null when they have too little in common. */
export function wordMarks(before: string, after: string): { before: Mark[]; after: Mark[] } | null {
  if (before.length > LONGEST || after.length > LONGEST) return null;
  const [a, b] = [pieces(before), pieces(after)];
  const marks = { before: [] as Mark[], after: [] as Mark[] };
  let kept = 0;
  const [startA, startB] = [starts(a), starts(b)];
  for (const edit of compare(a, b)) {
    if (edit.kind === "same") {
      for (let n = 0; n < edit.count; n += 1) kept += (a[edit.old + n] ?? "").trim().length;
      continue;
    }
    if (edit.gone > 0) mark(marks.before, startA[edit.old] ?? 0, startA[edit.old + edit.gone] ?? 0);
    if (edit.came > 0) mark(marks.after, startB[edit.new] ?? 0, startB[edit.new + edit.came] ?? 0);
  }
  const shorter = Math.min(before.trim().length, after.trim().length);
  return kept * 3 < shorter ? null : marks;
}

const pieces = (line: string) => line.match(/[\p{L}\p{N}_]+|\s+|./gu) ?? [];

function starts(parts: readonly string[]): number[] {
  const found = [0];
  for (const piece of parts) found.push((found.at(-1) ?? 0) + piece.length);
  return found;
}

function mark(marks: Mark[], from: number, to: number) {
  const last = marks.at(-1);
  // One blank between two changed words is not worth two marks.
  if (last && from - last[1] <= 1) marks[marks.length - 1] = [last[0], to];
  else marks.push([from, to]);
}
