// What a finger must not do by chance is held, not tapped. A mouse, a key and a screen reader act at once: none of them
// brushes against something while a pocket or a scroll moves.

import { type MouseEvent, type PointerEvent, useRef, useState } from "react";

/** How long a finger rests on it. */
export const HOLD = 600;

/** Whether people point with a finger here, so that the words can say that it is held. */
export const isTouched = () => matchMedia("(pointer: coarse)").matches;

/** Handlers of a button that acts when it was held and is let go. While `isHeld`, it shows that it is. */
export function useHold(act: () => void) {
  const since = useRef<number | null>(null);
  const byFinger = useRef(false);
  const [isHeld, setHeld] = useState(false);
  const stop = () => {
    since.current = null;
    setHeld(false);
  };
  return {
    isHeld,
    handlers: {
      onPointerDown(event: PointerEvent) {
        byFinger.current = event.pointerType === "touch";
        if (!byFinger.current) return;
        // What lies under it has a long press of its own.
        event.stopPropagation();
        since.current = performance.now();
        setHeld(true);
      },
      // Only when it is let go: who slides off it has changed their mind, and nothing vanishes from under a finger.
      onPointerUp() {
        const isLong = since.current !== null && performance.now() - since.current >= HOLD;
        stop();
        if (isLong) act();
      },
      onPointerCancel: stop,
      onPointerLeave: stop,
      onContextMenu(event: MouseEvent) {
        if (byFinger.current) event.preventDefault();
      },
      onClick(event: MouseEvent) {
        // A click without a pointer comes from a key or a screen reader.
        if (byFinger.current && event.detail > 0) event.preventDefault();
        else act();
      },
    },
  };
}
