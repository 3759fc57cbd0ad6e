// What is at the top of a list. It changes with every turn of the wheel, so only who shows it is told.

import { useSyncExternalStore } from "react";

export class Place {
  at: string | null = null;
  private readonly watchers = new Set<() => void>();

  go(at: string | null) {
    if (this.at === at) return;
    this.at = at;
    for (const watcher of this.watchers) watcher();
  }

  subscribe = (watcher: () => void) => {
    this.watchers.add(watcher);
    return () => void this.watchers.delete(watcher);
  };
}

export const usePlace = (place: Place) => useSyncExternalStore(place.subscribe, () => place.at);
