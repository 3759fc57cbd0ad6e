// What every part of an open diff shares: how it is shown, what is remembered, and whom to tell.

import { createContext, useContext } from "react";
import type { Comments } from "./comments";
import type { ChangedFile } from "./files";
import type * as highlight from "./highlight";
import type { Row } from "./rows";
import type { DiffStore } from "./store";

export type Reader = {
  attempt: string;
  store: DiffStore;
  isSplit: boolean;
  isSpaceIgnored: boolean;
  comments: Comments;
  /** The colours, once they are loaded. */
  paint: typeof highlight | null;
  /** The rows of each file that has been drawn, for whoever goes from change to change. */
  rows: Map<string, readonly Row[]>;
  /** Which folds of which file were opened, and by how many lines. */
  opened: Map<string, ReadonlyMap<number, number>>;
  /** Contents that are shown although they are long. */
  forced: Set<string>;
  /** The element that scrolls. */
  scroller: () => HTMLElement | null;
  isViewed: (file: ChangedFile) => boolean;
  isOpen: (file: ChangedFile) => boolean;
  setViewed: (file: ChangedFile, isViewed: boolean) => void;
  setOpen: (file: ChangedFile, isOpen: boolean) => void;
  openEditor: (path: string, line?: number) => void;
  deleteFile: (path: string) => void;
  /** Files in the worktree may be changed: all changes are shown, not a turn's. */
  isNow: boolean;
};

export const ReaderContext = createContext<Reader | null>(null);

export function useReader(): Reader {
  const reader = useContext(ReaderContext);
  if (!reader) throw new Error("a diff is drawn inside its reader");
  return reader;
}
