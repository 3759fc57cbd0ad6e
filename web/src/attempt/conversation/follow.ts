// Staying at the end of a list that grows, or staying put where the person reads. Only the person's own hand ends the
// following; growth never does.

import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** How near the end counts as the end. */
const NEAR = 80;
/** How long after a wheel, key or touch a scroll counts as the person's. */
const HAND = 1200;

export type Following = {
  isFollowing: boolean;
  /** Goes to the end, and stays there. */
  follow(): void;
  /** Leaves the end without the person's hand: to show something that was found. */
  leave(): void;
};

export function useFollowing(box: RefObject<HTMLElement | null>, begins: boolean): Following {
  const [isFollowing, setFollowing] = useState(begins);
  const now = useRef(begins);
  const set = useCallback((to: boolean) => {
    if (now.current === to) return;
    now.current = to;
    setFollowing(to);
  }, []);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let touched = 0;
    let isHeld = false;
    let top = element.scrollTop;
    const hand = () => {
      touched = performance.now();
    };
    const wheel = (event: WheelEvent) => event.deltaY < 0 && hand();
    const key = (event: KeyboardEvent) => {
      if (["PageUp", "ArrowUp", "Home"].includes(event.key)) hand();
    };
    // The scroll bar belongs to the box itself.
    const press = (event: PointerEvent) => {
      isHeld = event.target === element;
      if (isHeld) hand();
    };
    const release = () => {
      isHeld = false;
    };
    const scrolled = () => {
      const distance = element.scrollHeight - element.scrollTop - element.clientHeight;
      const isUp = element.scrollTop < top;
      top = element.scrollTop;
      const isByHand = isHeld || performance.now() - touched < HAND;
      if (distance <= NEAR) {
        if (!isUp || !isByHand) set(true);
      } else if (isByHand && isUp) set(false);
    };
    element.addEventListener("wheel", wheel, { passive: true });
    element.addEventListener("touchmove", hand, { passive: true });
    element.addEventListener("keydown", key);
    element.addEventListener("pointerdown", press);
    addEventListener("pointerup", release);
    element.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      element.removeEventListener("wheel", wheel);
      element.removeEventListener("touchmove", hand);
      element.removeEventListener("keydown", key);
      element.removeEventListener("pointerdown", press);
      removeEventListener("pointerup", release);
      element.removeEventListener("scroll", scrolled);
    };
  }, [box, set]);
  const follow = useCallback(() => set(true), [set]);
  const leave = useCallback(() => set(false), [set]);
  return { isFollowing, follow, leave };
}
