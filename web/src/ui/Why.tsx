// Why a button cannot be pressed, beside it, for whoever has pressed it all the same.

import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import styles from "./Why.module.css";

type Props = { text: string; of: HTMLElement; onClose: () => void };

/** Long enough to be read, and gone before it is in the way. */
const STAYS = 6000;

export function Why({ text, of, onClose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<{ left: number; top: number } | null>(null);
  useLayoutEffect(() => {
    const [own, its] = [box.current?.getBoundingClientRect(), of.getBoundingClientRect()];
    if (!own) return;
    const isRoomBelow = its.bottom + own.height + 12 < innerHeight;
    setPlace({
      left: Math.max(8, Math.min(its.left, innerWidth - own.width - 8)),
      top: isRoomBelow ? its.bottom + 4 : its.top - own.height - 4,
    });
  }, [of]);
  useEffect(() => {
    const timer = setTimeout(onClose, STAYS);
    const elsewhere = (event: Event) => {
      if (!of.contains(event.target as Node)) onClose();
    };
    addEventListener("pointerdown", elsewhere, true);
    addEventListener("scroll", onClose, true);
    return () => {
      clearTimeout(timer);
      removeEventListener("pointerdown", elsewhere, true);
      removeEventListener("scroll", onClose, true);
    };
  }, [of, onClose]);
  return createPortal(
    <div ref={box} role="alert" className={styles.why} style={place ?? { left: 0, top: 0 }}>
      {text}
    </div>,
    document.querySelector("dialog[open]") ?? document.body,
  );
}
