// What a card can ask of the board that it is on; the same functions for as long as the board is there.

import { createContext, useContext } from "react";
import type { ColumnId } from "../facts/state";
import type { Place } from "../ui/Menu";

export type BoardActs = {
  /** Opens the menu of a card. */
  menu: (task: string, at: Place) => void;
  /** Opens the choice of columns for a card. */
  moveMenu: (task: string, at: Place) => void;
  /** Takes a card to a column, with whatever that means and asks. */
  take: (task: string, to: ColumnId, before?: string | null) => void;
  isOfAllProjects: boolean;
};

export const BoardContext = createContext<BoardActs | null>(null);

export function useBoard(): BoardActs {
  const acts = useContext(BoardContext);
  if (!acts) throw new Error("A card is drawn outside of a board.");
  return acts;
}

/** Where a card is, for a menu that a key opened. */
export function placeOf(task: string): Place {
  const card = document.querySelector(`[data-task="${CSS.escape(task)}"]`);
  const box = card?.getBoundingClientRect();
  return box ? { x: box.left + 24, y: box.top, height: Math.min(box.height, 32) } : { x: 80, y: 80 };
}
