// Dragging cards with the mouse. A card is a handle, a column is where it lands; fingers use the menu instead.

import {
  draggable,
  dropTargetForElements,
  monitorForElements,
} from "@atlaskit/pragmatic-drag-and-drop/adapter/element-adapter";
import { type RefObject, useEffect, useRef, useState } from "react";
import { world } from "../api/world";
import type { ColumnId } from "../facts/state";
import { setDragged } from "./active";
import { cardOf } from "./cards";
import { meaningOf } from "./moves";

const taskOf = (data: Record<string | symbol, unknown>) => (typeof data.task === "string" ? data.task : null);

const byTouch = matchMedia("(pointer: coarse)");

/** Makes a card draggable. */
export function useDraggable(element: RefObject<HTMLElement | null>, task: string) {
  useEffect(() => {
    if (!element.current || byTouch.matches) return;
    return draggable({
      element: element.current,
      getInitialData: () => ({ task }),
      onDragStart: () => setDragged(task),
      onDrop: () => setDragged(null),
    });
  }, [element, task]);
}

type Landing = {
  /** A card is over the column and may land. */
  isOver: boolean;
  /** Where the line is drawn, from the top of the column's element; null where order is not by hand. */
  line: number | null;
};

/** Makes a column a place to land. `before` is the card it would stand above, in a column ordered by hand. */
export function useLanding(
  element: RefObject<HTMLElement | null>,
  column: ColumnId,
  isByHand: boolean,
  land: (task: string, before: string | null) => void,
): Landing {
  const [landing, setLanding] = useState<Landing>({ isOver: false, line: null });
  const newest = useRef(land);
  newest.current = land;
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    return dropTargetForElements({
      element: target,
      canDrop: ({ source }) => {
        const task = taskOf(source.data);
        const card = task && cardOf(world(), task);
        if (!card) return false;
        const { kind } = meaningOf(card, column);
        return kind === "nothing" ? isByHand : kind !== "refused";
      },
      onDrag: ({ location, source }) => {
        const place = isByHand ? placeAt(target, location.current.input.clientY, taskOf(source.data)) : null;
        setLanding((now) =>
          now.isOver && now.line === (place?.line ?? null)
            ? now
            : { isOver: true, line: place?.line ?? null },
        );
      },
      onDragLeave: () => setLanding({ isOver: false, line: null }),
      onDrop: ({ location, source }) => {
        setLanding({ isOver: false, line: null });
        const task = taskOf(source.data);
        const place = isByHand ? placeAt(target, location.current.input.clientY, task) : null;
        if (task) newest.current(task, place?.before ?? null);
      },
    });
  }, [element, column, isByHand]);
  return landing;
}

// Only the cards on screen are there, and only those can be pointed between.
function placeAt(column: HTMLElement, y: number, dragged: string | null) {
  const cards = [...column.querySelectorAll<HTMLElement>("[data-task]")]
    .filter((card) => card.dataset.task !== dragged)
    .map((card) => ({ id: card.dataset.task ?? "", box: card.getBoundingClientRect() }))
    .sort((a, b) => a.box.top - b.box.top);
  const top = column.getBoundingClientRect().top;
  const below = cards.find(({ box }) => y < box.top + box.height / 2);
  const last = cards.at(-1);
  const line = below ? below.box.top - 4 : last ? last.box.bottom + 2 : top + 40;
  return { before: below?.id ?? null, line: Math.round(line - top) };
}

const EDGE = 48;
const FASTEST = 16;

/** Scrolls a list while a card is held near its upper or lower end, and the board sideways near its own. */
export function useAutoScroll() {
  useEffect(() => {
    let frame = 0;
    let at = { x: 0, y: 0 };
    const step = () => {
      frame = requestAnimationFrame(step);
      const under = document.elementFromPoint(at.x, at.y);
      const list = under?.closest<HTMLElement>("[data-scroll=list]");
      const board = under?.closest<HTMLElement>("[data-scroll=board]");
      if (list) list.scrollTop += pull(at.y, list.getBoundingClientRect(), "top", "bottom");
      if (board) board.scrollLeft += pull(at.x, board.getBoundingClientRect(), "left", "right");
    };
    const stop = monitorForElements({
      onDragStart: () => {
        frame = requestAnimationFrame(step);
      },
      onDrag: ({ location }) => {
        at = { x: location.current.input.clientX, y: location.current.input.clientY };
      },
      onDrop: () => cancelAnimationFrame(frame),
    });
    return () => {
      cancelAnimationFrame(frame);
      stop();
    };
  }, []);
}

function pull(at: number, box: DOMRect, start: "top" | "left", end: "bottom" | "right") {
  const before = EDGE - (at - box[start]);
  const after = EDGE - (box[end] - at);
  if (before > 0) return (-FASTEST * Math.min(before, EDGE)) / EDGE;
  if (after > 0) return (FASTEST * Math.min(after, EDGE)) / EDGE;
  return 0;
}
