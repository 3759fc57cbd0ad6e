// Times as people read them: how long something has gone on, and how long ago it was. One timer for the whole page.

import { useSyncExternalStore } from "react";
import { useConnection } from "../api/live";

const watchers = new Set<() => void>();
let timer: number | undefined;
let now = Date.now();

function tick(changed: () => void) {
  // The clock stood still while nobody watched it.
  if (watchers.size === 0) now = Date.now();
  watchers.add(changed);
  timer ??= window.setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    for (const watcher of watchers) watcher();
  }, 1000);
  return () => {
    watchers.delete(changed);
    if (watchers.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The current time, every second. */
export const useNow = () => useSyncExternalStore(tick, () => now);

/** `4:10`, `1:02:45`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n: number) => String(n).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** `now`, `9 min`, `2 h`, `3 d`. */
export function age(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
  return `${Math.floor(minutes / 1440)} d`;
}

type Props = { since: string };

/**
 * How long it has gone on, to the second. While the server is away nobody knows whether it still does, so it stops
 * where it was, with a `~`.
 */
export function Elapsed({ since }: Props) {
  const now = useNow();
  const connection = useConnection();
  const isAway = connection.state === "away";
  const gone = duration((isAway ? connection.since : now) - Date.parse(since));
  return <time dateTime={since}>{isAway ? `~${gone}` : gone}</time>;
}

/** How long ago it was. */
export function Ago({ since }: Props) {
  const text = useSyncExternalStore(tick, () => age(now - Date.parse(since)));
  return (
    // When exactly is only wanted by whoever points at it.
    <time
      dateTime={since}
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = new Date(since).toLocaleString();
      }}
    >
      {text}
    </time>
  );
}
