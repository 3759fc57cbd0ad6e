// Staying at the end of a list that grows, or staying put where the person reads. Only the person's own hand ends the
// following; growth never does.

import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** How near the end counts as the end. */
const NEAR = 80;
/** When a wheel, key or touch has led to where it leads. */
const SETTLED = 250;

export type Following = {
  isFollowing: boolean;
  /** The same, as it is this very moment: a frame that is being made must not undo a scroll. */
  now: RefObject<boolean>;
  /** Goes to the end, and stays there. */
  follow(): void;
  /** Leaves the end without the person's hand: to show something that was found. */
  leave(): void;
};

/** `isEndHere` tells whether the bottom of the box is the end: of a part of a list it may not be. */
export function useFollowing(
  box: RefObject<HTMLElement | null>,
  begins: boolean,
  isEndHere: () => boolean = always,
): Following {
  const [isFollowing, setFollowing] = useState(begins);
  const now = useRef(begins);
  const set = useCallback((to: boolean) => {
    if (now.current === to) return;
    now.current = to;
    setFollowing(to);
  }, []);
  useEffect(() => (box.current ? watchHand(box.current, set, isEndHere) : undefined), [box, set, isEndHere]);
  const follow = useCallback(() => set(true), [set]);
  const leave = useCallback(() => set(false), [set]);
  return { isFollowing, now, follow, leave };
}

const always = () => true;

/** Tells by the person's hand when the end is left, and when it is reached again. */
export function watchHand(element: HTMLElement, set: (to: boolean) => void, isEndHere: () => boolean) {
  let isHeld = false;
  let top = element.scrollTop;
  let look = 0;
  let wentUp = 0;
  const isNear = () => isEndHere() && element.scrollHeight - element.scrollTop - element.clientHeight <= NEAR;
  // At once, before anything grows: whether it led far enough away is seen when the scroll has happened.
  const up = () => {
    set(false);
    wentUp = performance.now();
    clearTimeout(look);
    const from = element.scrollTop;
    const isWhole = element.scrollHeight <= element.clientHeight;
    look = window.setTimeout(() => {
      if (!isHeld && isNear() && (isWhole || element.scrollTop < from)) set(true);
    }, SETTLED);
  };
  const wheel = (event: WheelEvent) => event.deltaY < 0 && up();
  const key = (event: KeyboardEvent) => {
    if (["PageUp", "ArrowUp", "Home"].includes(event.key)) up();
  };
  // The scroll bar belongs to the box itself.
  const press = (event: PointerEvent) => {
    isHeld = event.target === element && event.offsetX >= element.clientWidth;
    if (isHeld) up();
  };
  const release = () => {
    if (isHeld && isNear()) set(true);
    isHeld = false;
  };
  const scrolled = () => {
    const isDown = element.scrollTop > top;
    top = element.scrollTop;
    if (isDown && !isHeld && performance.now() - wentUp > SETTLED && isNear()) set(true);
  };
  element.addEventListener("wheel", wheel, { passive: true });
  element.addEventListener("touchmove", up, { passive: true });
  element.addEventListener("keydown", key);
  element.addEventListener("pointerdown", press);
  addEventListener("pointerup", release);
  element.addEventListener("scroll", scrolled, { passive: true });
  return () => {
    clearTimeout(look);
    element.removeEventListener("wheel", wheel);
    element.removeEventListener("touchmove", up);
    element.removeEventListener("keydown", key);
    element.removeEventListener("pointerdown", press);
    removeEventListener("pointerup", release);
    element.removeEventListener("scroll", scrolled);
  };
}
