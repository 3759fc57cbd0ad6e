// Which files of an attempt the person has marked as viewed, as this browser remembers it. A mark is gone when the file
// changes.

import { useState } from "react";
import type { ChangedFile } from "./files";

const KEY = "forge.viewed";
/** Marks of so many attempts are kept; the oldest go. */
const MOST = 200;

type Marks = Record<string, Record<string, string>>;

const stamp = ({ added, deleted, diff }: ChangedFile) => `${diff.change} ${added} ${deleted}`;

function read(): Marks {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

export function useViewed(attempt: string) {
  const [marks, setMarks] = useState<Record<string, string>>(() => read()[attempt] ?? {});
  return {
    isViewed: (file: ChangedFile) => marks[file.path] === stamp(file),
    mark(file: ChangedFile, isViewed: boolean) {
      const { [file.path]: _, ...rest } = marks;
      const mine = isViewed ? { ...rest, [file.path]: stamp(file) } : rest;
      setMarks(mine);
      const { [attempt]: __, ...others } = read();
      const kept = [...Object.entries(others), [attempt, mine] as const].slice(-MOST);
      try {
        localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(kept)));
      } catch {
        // A browser that keeps nothing still works; it only forgets.
      }
    },
  };
}
