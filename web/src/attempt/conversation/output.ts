// Long output in pieces: the first and the last lines are shown, the rest when it is asked for.

import { grouped } from "../../ui/numbers";

const FIRST = 20;
const LAST = 80;
const MOST = 200;
const WIDEST = 2000;

export type Piece = { lines: readonly string[]; hidden: number };

/** The lines to show: all, or the first and the last and how many are between. */
export function cut(text: string, isWhole: boolean): { head: string; hidden: number; tail: string } {
  const lines = text.replace(/\n$/, "").split("\n");
  if (isWhole || lines.length <= MOST) return { head: narrow(lines), hidden: 0, tail: "" };
  return {
    head: narrow(lines.slice(0, FIRST)),
    hidden: lines.length - FIRST - LAST,
    tail: narrow(lines.slice(-LAST)),
  };
}

/** The last line that says something, without its colours. */
export function lastLine(text: string): string {
  const end = text.trimEnd();
  const line = end.slice(end.lastIndexOf("\n") + 1);
  return line.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "").slice(0, 200);
}

export const narrow = (lines: readonly string[]) =>
  lines
    .map((line) =>
      line.length > WIDEST
        ? `${line.slice(0, WIDEST)}… ${grouped(line.length - WIDEST)} more characters`
        : line,
    )
    .join("\n");
