// A text in which nothing is hidden: characters that cannot be seen, or that change the direction of others, are shown
// as their numbers. Everything that an agent wants to do is shown this way.

import type { ReactNode } from "react";
import styles from "./Plain.module.css";

/**
 * Control characters other than the tab and the end of a line, characters without a width, marks and overrides of the
 * direction, separators of lines that are drawn as spaces, fillers, and tags.
 */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]|\u034f|\u17b4|\u17b5|\u180b|\u180c|\u180d|\u180f/gu;

const numberOf = (character: string) =>
  `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`;

/** The text with a mark in the place of each hidden character. */
export function plain(text: string): ReactNode {
  if (text.search(HIDDEN) < 0) return text;
  const pieces: ReactNode[] = [];
  let at = 0;
  for (const found of text.matchAll(HIDDEN)) {
    pieces.push(text.slice(at, found.index));
    pieces.push(
      <span key={found.index} className={styles.hidden}>
        {numberOf(found[0])}
      </span>,
    );
    at = found.index + found[0].length;
  }
  return [...pieces, text.slice(at)];
}

/** The same as text alone, for names and titles. */
export const plainText = (text: string) => text.replace(HIDDEN, (found) => `<${numberOf(found)}>`);
