// Which card the keys act on, which ones are selected, and which one is being dragged. One small store, so that a
// change draws only the cards it is about.

import { useSyncExternalStore } from "react";

type Active = {
  card: string | null;
  /** The card should take the focus as soon as it is there. */
  wantsFocus: boolean;
  selected: ReadonlySet<string>;
  dragged: string | null;
};

let current: Active = { card: null, wantsFocus: false, selected: new Set(), dragged: null };
const watchers = new Set<() => void>();

function change(to: Partial<Active>) {
  current = { ...current, ...to };
  for (const changed of watchers) changed();
}

export const active = () => current;

/** The card that has the focus already. */
export const setActive = (card: string | null) => {
  if (card !== current.card || current.wantsFocus) change({ card, wantsFocus: false });
};

/** Brings the focus to a card, wherever it is by now. */
export const focusCard = (card: string) => change({ card, wantsFocus: true });

/**
 * Gives the focus to a card's link. What a virtual list has not measured yet is hidden, so it may take a few frames; who
 * has gone elsewhere meanwhile stays there.
 */
export function giveFocus(card: string, link: HTMLElement | null, tries = 20) {
  if (!current.wantsFocus || current.card !== card) return;
  link?.focus();
  if (!link || document.activeElement === link || tries === 0) return change({ wantsFocus: false });
  requestAnimationFrame(() => {
    if (link.isConnected) giveFocus(card, link, tries - 1);
  });
}

export const setDragged = (dragged: string | null) => change({ dragged });

export function select(ids: Iterable<string>) {
  change({ selected: new Set(ids) });
}

export function toggleSelected(id: string) {
  const selected = new Set(current.selected);
  if (!selected.delete(id)) selected.add(id);
  change({ selected });
}

export const LOOK = { wantsFocus: 1, selected: 2, dragged: 4 } as const;
export type Look = (typeof LOOK)[keyof typeof LOOK];

/** What a card is at the moment, in one number. */
export const lookOf = ({ card, wantsFocus, selected, dragged }: Active, id: string) =>
  (wantsFocus && card === id ? LOOK.wantsFocus : 0) |
  (selected.has(id) ? LOOK.selected : 0) |
  (dragged === id ? LOOK.dragged : 0);

export const useActive = <T>(pick: (active: Active) => T): T =>
  useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
    () => pick(current),
  );
