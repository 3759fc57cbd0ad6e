// Which files of an attempt the person has marked as viewed, as this browser remembers it. A mark is gone when the file
// changes.

import { useEffect, useState, useSyncExternalStore } from "react";
import type { Diff } from "../api/types";
import type { ChangedFile } from "./files";
import type { DiffStore } from "./store";

const KEY = "forge.viewed";
/** Marks of so many attempts are kept; the oldest go. */
const MOST = 200;

/** By path, what each was like when it was marked. */
type Marks = Record<string, string>;

function read(): Record<string, Marks> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

function keep(attempt: string, marks: Marks) {
  const { [attempt]: _, ...others } = read();
  const kept = [...Object.entries(others), [attempt, marks] as const].slice(-MOST);
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(kept)));
  } catch {
    // A browser that keeps nothing still works; it only forgets.
  }
}

/** How a file is: its counts as the list tells them, and a print of its contents where these are known. */
export function markOf({ change, additions, deletions }: Diff, content: Diff | null): string {
  const counts = `${change} ${additions ?? 0} ${deletions ?? 0}`;
  return content ? `${counts}#${printOf(content)}` : counts;
}

/** Whether a file is as it was marked. Equal counts hold until the contents have come and tell more. */
export function holds(mark: string | undefined, listed: Diff, content: Diff | null): boolean {
  if (mark === undefined) return false;
  const [counts, print] = mark.split("#");
  return counts === markOf(listed, null) && (!content || print === undefined || print === printOf(content));
}

const prints = new WeakMap<Diff, string>();

function printOf(content: Diff): string {
  const known = prints.get(content);
  if (known) return known;
  const { oldContent, newContent, newMode } = content;
  const print = [hash(oldContent ?? ""), hash(newContent ?? ""), newMode].join(" ");
  prints.set(content, print);
  return print;
}

/** 53 bits of a text: two that differ have the same by no chance that matters. */
function hash(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let n = 0; n < text.length; n += 1) {
    const code = text.charCodeAt(n);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
}

export function useViewed(attempt: string, store: DiffStore, files: readonly ChangedFile[]) {
  const [marks, setMarks] = useState<Marks>(() => read()[attempt] ?? {});
  const contentOf = (path: string) => {
    const content = store.content(path);
    return content?.state === "known" ? content.diff : null;
  };
  const isViewed = (file: ChangedFile) => holds(marks[file.path], file.diff, contentOf(file.path));
  useSyncExternalStore(store.subscribe, () =>
    files
      .filter(isViewed)
      .map(({ path }) => path)
      .join("\n"),
  );
  const change = (changed: Marks) => {
    setMarks(changed);
    keep(attempt, changed);
  };
  // What is marked is folded, so nobody else asks for its contents.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rest follows from these
  useEffect(() => {
    const look = () => {
      const completed: Marks = {};
      for (const file of files) {
        const { path, diff } = file;
        const mark = marks[path];
        if (mark === undefined || !isViewed(file)) continue;
        const content = contentOf(path);
        if (!content) store.want(path);
        else if (!mark.includes("#")) completed[path] = markOf(diff, content);
      }
      if (Object.keys(completed).length > 0) change({ ...marks, ...completed });
    };
    look();
    return store.subscribe(look);
  }, [store, files, marks]);
  return {
    isViewed,
    mark(file: ChangedFile, isViewed: boolean) {
      const { [file.path]: _, ...rest } = marks;
      change(isViewed ? { ...rest, [file.path]: markOf(file.diff, contentOf(file.path)) } : rest);
    },
  };
}
