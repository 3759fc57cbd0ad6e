// One line of code with its colours and the marks of changed words. What would hide or turn round a text is shown as
// what it is.

import { memo, type ReactNode } from "react";
import { grouped } from "../ui/numbers";
import { plain } from "../ui/Plain";
import hidden from "../ui/Plain.module.css";
import styles from "./Code.module.css";
import type { Token } from "./highlight";
import type { Mark } from "./words";

type Props = { text: string; marks: readonly Mark[] | null; tokens: readonly Token[] | null };

const LONGEST = 2000;

export const Code = memo(function Code({ text, marks, tokens }: Props) {
  if (text.length > LONGEST)
    return (
      <>
        {plain(text.slice(0, LONGEST))}
        <span className={hidden.hidden}>… {grouped(text.length - LONGEST)} more characters</span>
      </>
    );
  if (!marks?.length && !tokens?.length) return plain(text);
  const cuts = new Set([0, text.length]);
  for (const [from, to] of marks ?? []) cuts.add(from).add(to);
  for (const [from, to] of tokens ?? []) cuts.add(from).add(to);
  const places = [...cuts].filter((at) => at <= text.length).sort((a, b) => a - b);
  const pieces: ReactNode[] = [];
  for (let n = 0; n + 1 < places.length; n += 1) {
    const [from = 0, to = 0] = [places[n], places[n + 1]];
    const token = tokens?.find((it) => it[0] <= from && to <= it[1])?.[2];
    const isMarked = marks?.some((it) => it[0] <= from && to <= it[1]);
    const words = plain(text.slice(from, to));
    const coloured = token ? (
      <span key={from} className={styles[token]}>
        {words}
      </span>
    ) : (
      words
    );
    pieces.push(
      isMarked ? (
        <mark key={from} className={styles.mark}>
          {coloured}
        </mark>
      ) : (
        <span key={from}>{coloured}</span>
      ),
    );
  }
  return pieces;
});
