// Which file is at the top of the screen. It changes with every turn of the wheel, so only who shows it is told.

import { useSyncExternalStore } from "react";

export class Place {
  path: string | null = null;
  private readonly watchers = new Set<() => void>();

  go(path: string | null) {
    if (this.path === path) return;
    this.path = path;
    for (const watcher of this.watchers) watcher();
  }

  subscribe = (watcher: () => void) => {
    this.watchers.add(watcher);
    return () => void this.watchers.delete(watcher);
  };
}

export const usePlace = (place: Place) => useSyncExternalStore(place.subscribe, () => place.path);
