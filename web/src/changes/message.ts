// The one message that tells an agent the person's comments on its changes. Pure.

import { placeWords } from "./anchors";
import type { Side } from "./rows";

export type Said = {
  path: string;
  side: Side;
  line: number;
  end_line?: number | null;
  quote: string;
  text: string;
};

/**
 * The comments that are not sent yet as they read now: what is being written takes the place of what was saved, and a new
 * one comes last. A box that was emptied says nothing.
 */
export function asWritten<Saved extends Said & { id: string }, New extends Said & { id: string | null }>(
  pending: readonly Saved[],
  writing: New | null,
): Array<Saved | New> {
  if (!writing || writing.text.trim() === "") return [...pending];
  if (writing.id === null) return [...pending, writing];
  return pending.map((comment) => (comment.id === writing.id ? { ...comment, text: writing.text } : comment));
}

/** A message that the person changed, and the comments that it was made of. */
export type Edited = { of: readonly Said[]; text: string; isRefused?: boolean };

/**
 * Says whether it is the message still. It is as long as the comments are those that it was made of; one that was refused
 * also when some of them are gone, because another tab sent them. A new comment would not be in it.
 */
export function stands({ of, isRefused }: Edited, written: readonly Said[]): boolean {
  const blocks = new Set(of.map((comment) => composed([comment])));
  return isRefused
    ? written.every((comment) => blocks.has(composed([comment])))
    : composed(of) === composed(written);
}

const MOST_QUOTED = 12;

/** Each comment with the lines it is about, in the order of the files. */
export function composed(comments: readonly Said[]): string {
  const blocks = [...comments]
    .sort((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))
    .map((comment) => {
      const place = placeWords(comment.side, comment.line, comment.end_line);
      return `\`${comment.path}\`, ${place}:\n${quoted(comment.quote)}\n\n${comment.text.trim()}`;
    });
  return [comments.length === 1 ? "A comment on your changes:" : "Comments on your changes:", ...blocks].join(
    "\n\n",
  );
}

function quoted(quote: string): string {
  const lines = quote.split("\n");
  const shown = lines.slice(0, MOST_QUOTED).map((line) => `> ${line}`);
  if (lines.length > MOST_QUOTED) shown.push(`> … ${lines.length - MOST_QUOTED} more lines`);
  return shown.join("\n");
}
