// What a person has begun to write for an ask, as long as the page is open: a card that is scrolled away, or is shown
// elsewhere, is made anew, and for a moment there may be two of it. All of them show the same.

import { useState, useSyncExternalStore } from "react";

const begun = new Map<string, unknown>();
const watchers = new Set<() => void>();

const watch = (changed: () => void) => {
  watchers.add(changed);
  return () => void watchers.delete(changed);
};

type Begun<T> = [
  now: T,
  change: (now: T) => void,
  /** It was changed since it was drawn, and not just brought back: only then may it take the focus. */
  isFresh: boolean,
];

/** What was begun, for who answers without its box, such as a key. */
export const begunOf = <T>(ask: string, part: string) => begun.get(`${ask} ${part}`) as T | undefined;

/** State that stays with an ask; `part` names what of its answer it is. */
export function useBegun<T>(ask: string, part: string, first: () => T): Begun<T> {
  const key = `${ask} ${part}`;
  const [begins] = useState(first);
  const [isFresh, setFresh] = useState(false);
  const read = () => (begun.has(key) ? (begun.get(key) as T) : begins);
  const now = useSyncExternalStore(watch, read, read);
  const change = (next: T) => {
    begun.set(key, next);
    setFresh(true);
    for (const changed of watchers) changed();
  };
  return [now, change, isFresh];
}
