// What one browser remembers: theme, folded panes, the agent last used in a project. Everything that belongs to the
// person rather than to this browser is kept by the server.

import { useSyncExternalStore } from "react";

export type Preferences = {
  theme: "system" | "light" | "dark";
  singleKeys: boolean;
  railFolded: boolean;
  paneFolded: boolean;
  paneWidth: number;
  archivedShown: boolean;
  cancelledShown: boolean;
  view: "board" | "list";
  /** By column: the order that was chosen instead of its own. */
  columnSort: Partial<Record<string, "own" | "newest" | "oldest" | "title">>;
  diffView: "unified" | "split";
  diffColours: "red-green" | "blue-orange";
  sendWith: "Enter" | "Mod+Enter";
  /** By project: what was started last, as `AGENT` or `AGENT:VARIANT`, and on which branch. */
  lastStart: Record<string, { profile: string; base?: string }>;
  /** By task: what a wish was saved with, for its first start. */
  wishes: Record<string, { profile?: string; base?: string }>;
  notices: Record<string, { browser: boolean; sound: boolean }>;
};

const DEFAULTS: Preferences = {
  theme: "system",
  singleKeys: true,
  railFolded: false,
  paneFolded: false,
  paneWidth: 0.4,
  archivedShown: false,
  cancelledShown: false,
  view: "board",
  columnSort: {},
  diffView: "unified",
  diffColours: "red-green",
  sendWith: "Enter",
  lastStart: {},
  wishes: {},
  notices: {},
};

const KEY = "forge.preferences";
let current: Preferences = read();
const watchers = new Set<() => void>();

function read(): Preferences {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return DEFAULTS;
  }
}

export const preferences = () => current;

export function prefer(change: Partial<Preferences>) {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // A browser that keeps nothing still works; it only forgets.
  }
  for (const changed of watchers) changed();
}

export const usePreferences = () =>
  useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
    () => current,
  );

/** Keeps the page's theme, and other tabs' choices, up to date; called once, by `main.ts`. */
export function followPreferences() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    const { theme, diffColours } = current;
    const isDark = theme === "dark" || (theme === "system" && dark.matches);
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    document.documentElement.dataset.diff = diffColours;
  };
  show();
  watchers.add(show);
  dark.addEventListener("change", show);
  addEventListener("storage", (event) => {
    if (event.key !== KEY) return;
    current = read();
    for (const changed of watchers) changed();
  });
}
