// The scroll bar of the whole conversation, of which the list holds a window only: it shows where that is, and leads to
// any other place. What is dragged is shown when it is let go; until then the bar says what would be there.

import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import { grouped } from "../../ui/numbers";
import { type Place, usePlace } from "../../ui/place";
import styles from "./Scrollbar.module.css";
import { type Counts, placeOf, totalOf } from "./whole";

type Props = {
  counts: Counts;
  /** The entry at the top of the screen. */
  place: Place;
  isAtEnd: boolean;
  /** Shows the entry that so many come before; as many as there are is the end. */
  onGo: (place: number) => void;
};

/** How far a key leads, as a part of the whole. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowUp: -0.01,
  ArrowDown: 0.01,
  PageUp: -0.1,
  PageDown: 0.1,
};

export function Scrollbar({ counts, place, isAtEnd, onGo }: Props) {
  const top = usePlace(place);
  const track = useRef<HTMLDivElement>(null);
  const [dragged, setDragged] = useState<number | null>(null);
  const total = totalOf(counts);
  const before = isAtEnd ? total : top === null ? null : placeOf(counts, top);
  const now = dragged ?? Math.min(total, before ?? total);

  const under = (event: PointerEvent) => {
    const box = track.current?.getBoundingClientRect();
    if (!box) return now;
    const part = (event.clientY - box.top - THUMB / 2) / Math.max(1, box.height - THUMB);
    return Math.round(Math.min(1, Math.max(0, part)) * total);
  };
  const key = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? total : step && now + step * total;
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onGo(Math.round(Math.min(total, Math.max(0, to))));
  };
  return (
    <div
      ref={track}
      className={styles.track}
      role="scrollbar"
      aria-label="Place in the whole conversation"
      aria-controls="log"
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={now}
      aria-valuetext={inWords(now, total)}
      tabIndex={0}
      onKeyDown={key}
      onPointerDown={(event) => {
        // The other buttons of a mouse have menus of their own.
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setDragged(under(event));
      }}
      onPointerMove={(event) => dragged !== null && setDragged(under(event))}
      onPointerUp={(event) => {
        if (dragged === null) return;
        setDragged(null);
        onGo(under(event));
      }}
      onPointerCancel={() => setDragged(null)}
    >
      <div
        className={styles.thumb}
        data-dragged={dragged !== null || undefined}
        style={{ height: THUMB, top: `calc((100% - ${THUMB}px) * ${total === 0 ? 1 : now / total})` }}
      >
        {dragged !== null && <span className={styles.words}>{inWords(dragged, total)}</span>}
      </div>
    </div>
  );
}

const THUMB = 40;

const inWords = (place: number, total: number) =>
  place >= total ? "the end" : `${grouped(place + 1)} of ${grouped(total)}`;
