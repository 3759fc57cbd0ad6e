// Keeps the board still under a hand: while the pointer is over it or one of its cards has the focus, a new order waits
// a moment. What the person did themself is shown at once, and so is everything when the hand has left.

import { useEffect, useRef, useState } from "react";

const LONGEST = 2000;
let lastAct = Number.NEGATIVE_INFINITY;

/** The person acts on the board: what changes in the next moment is their own doing. */
export const ownDoing = () => {
  lastAct = performance.now();
};

/** The newest value, or an older one while the board is held. */
export function useCalm<T>(newest: T, isHeld: boolean): T {
  const [shown, setShown] = useState(newest);
  const since = useRef<number | null>(null);
  const isOwn = performance.now() - lastAct < LONGEST;
  const waits = isHeld && !isOwn && shown !== newest;
  useEffect(() => {
    if (!waits) {
      since.current = null;
      setShown(newest);
      return;
    }
    since.current ??= performance.now();
    const rest = Math.max(0, LONGEST - (performance.now() - since.current));
    const timer = setTimeout(() => {
      since.current = null;
      setShown(newest);
    }, rest);
    return () => clearTimeout(timer);
  }, [newest, waits]);
  return waits ? shown : newest;
}
