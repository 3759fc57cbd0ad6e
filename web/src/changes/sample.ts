// A changed file for tests, as the list of a diff has it: complete, dull, and changed only where a test says so.

import type { Diff } from "../api/types";

export const changed = (path: string, change: Partial<Diff> = {}): Diff => ({
  additions: 1,
  deletions: 0,
  change: "modified",
  contentOmitted: true,
  isBinary: false,
  newContent: null,
  oldContent: null,
  newMode: "100644",
  oldMode: "100644",
  newPath: path,
  oldPath: path,
  ...change,
});
