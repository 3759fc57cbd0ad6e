// What the person opened or folded in a conversation, by key: rows come and go with the scrolling, their folds stay.

import { createContext, useContext, useSyncExternalStore } from "react";

export class Folds {
  private chosen = new Map<string, boolean>();
  private all: boolean | null = null;
  private readonly watchers = new Set<() => void>();

  isOpen(key: string, byItself: boolean) {
    return this.chosen.get(key) ?? this.all ?? byItself;
  }
  set(key: string, isOpen: boolean) {
    this.chosen.set(key, isOpen);
    this.tell();
  }
  /** Folds everything; a second time, everything is as it is by itself again. */
  toggleAll() {
    this.all = this.all === null ? false : null;
    this.chosen = new Map();
    this.tell();
  }
  watch = (changed: () => void) => {
    this.watchers.add(changed);
    return () => void this.watchers.delete(changed);
  };
  private tell() {
    for (const changed of this.watchers) changed();
  }
}

export const FoldsHere = createContext(new Folds());

/** Whether something is open, and what toggles it. */
export function useFold(key: string, byItself: boolean): [boolean, () => void] {
  const folds = useContext(FoldsHere);
  const isOpen = useSyncExternalStore(folds.watch, () => folds.isOpen(key, byItself));
  return [isOpen, () => folds.set(key, !isOpen)];
}
