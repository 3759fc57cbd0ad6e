// The lines of an edit, from what an agent says it changed.

import type { FileChange } from "../../api/types";

export type Line = { sign: "+" | "-" | " " | "@"; text: string; number: number | null };
export type Change = { lines: readonly Line[]; added: number; deleted: number; words: string | null };

/** All changes of one call, as lines with signs. */
export function changeOf(changes: readonly FileChange[]): Change {
  const lines: Line[] = [];
  let added = 0;
  let deleted = 0;
  const words: string[] = [];
  for (const change of changes) {
    if (change.action === "delete") words.push("deleted");
    else if (change.action === "rename") words.push(`renamed to ${change.new_path}`);
    else if (change.action === "write") {
      const text = change.content.replace(/\n$/, "").split("\n");
      text.forEach((line, index) => void lines.push({ sign: "+", text: line, number: index + 1 }));
      added += text.length;
    } else {
      let at: number | null = null;
      for (const line of change.unified_diff.replace(/\n$/, "").split("\n")) {
        if (/^(---|\+\+\+) /.test(line) || line.startsWith("\\")) continue;
        if (line.startsWith("@@")) {
          const begins = /\+(\d+)/.exec(line)?.[1];
          at = change.has_line_numbers && begins ? Number(begins) : null;
          if (lines.length > 0) lines.push({ sign: "@", text: "", number: null });
          continue;
        }
        const sign = line[0] === "+" || line[0] === "-" ? line[0] : " ";
        if (sign === "+") added += 1;
        if (sign === "-") deleted += 1;
        lines.push({ sign, text: line.slice(1), number: sign === "-" ? null : at });
        if (at !== null && sign !== "-") at += 1;
      }
    }
  }
  return { lines, added, deleted, words: words.join(", ") || null };
}

/** The first so many lines that changed, with what stands between them. */
export function firstChanged(lines: readonly Line[], most: number): readonly Line[] {
  let seen = 0;
  const end = lines.findIndex((line) => {
    if (line.sign === "+" || line.sign === "-") seen += 1;
    return seen > most;
  });
  return end < 0 ? lines : lines.slice(0, end);
}
