// Where an entry stands in the whole conversation, of which only a window is here, and which one stands at a place. Runs
// follow one another, so the place of an entry is how many all earlier runs have, and its own index. Pure.

import type { RunEntryCount } from "../../api/types";

/** An entry's permalink. */
export const keyAt = (run: string, index: number) => `${run}:${index}`;

/** The run and the index that a key is made of. */
export function apart(key: string): [run: string, index: number] {
  const colon = key.lastIndexOf(":");
  return [key.slice(0, colon), Number(key.slice(colon + 1))];
}

/** How many entries each run has, the oldest first. */
export type Counts = ReadonlyArray<{ run: string; entries: number }>;

/** What the server counted; null while the entries of some run are being made. */
export function countsOf(runs: readonly RunEntryCount[]): Counts | null {
  const counts = runs.flatMap(({ id, entries }) => (entries === null ? [] : [{ run: id, entries }]));
  return counts.length === runs.length ? counts : null;
}

/** The counts with an entry that came since. */
export function counted(counts: Counts | null, run: string, index: number): Counts | null {
  if (!counts) return null;
  const known = counts.find((it) => it.run === run);
  if (!known) return [...counts, { run, entries: index + 1 }];
  if (index < known.entries) return counts;
  return counts.map((it) => (it === known ? { run, entries: index + 1 } : it));
}

export const totalOf = (counts: Counts) => counts.reduce((sum, { entries }) => sum + entries, 0);

/** How many entries come before one; null when its run is not known. */
export function placeOf(counts: Counts, key: string): number | null {
  const [run, index] = apart(key);
  let before = 0;
  for (const it of counts) {
    if (it.run === run) return before + index;
    before += it.entries;
  }
  return null;
}

/** The entry that so many come before. */
export function keyAtPlace(counts: Counts, place: number): string | null {
  let rest = place;
  for (const { run, entries } of counts) {
    if (rest < entries) return keyAt(run, Math.max(0, rest));
    rest -= entries;
  }
  return null;
}
