// What the server refused about a branch: its sentence, the remedy beside it, and when it is over.

import { Refused, sentenceOf } from "../api/client";
import type { BranchStatus } from "../api/types";

export type Remedy = "rebase then merge" | "merge without hooks" | "change target" | "stop";

export type Problem = {
  sentence: string;
  remedy: Remedy | null;
  /** It is about a conflict that waits, and over with that, by whoever's hand. */
  isOfConflict: boolean;
  /** The files that it is about. */
  files: readonly string[];
};

const REMEDIES: Record<string, Remedy> = {
  diverged: "rebase then merge",
  hook_failed: "merge without hooks",
  no_target: "change target",
  busy: "stop",
};

/** The kind of a refusal, as the server names it. */
export const codeOf = (error: unknown) => {
  const details = error instanceof Refused ? error.details : null;
  if (typeof details === "string") return details;
  return details && typeof details === "object" && "type" in details ? String(details.type) : null;
};

/** A refusal as it is shown; `not` begins its sentence. */
export function problemOf(not: string, error: unknown, isOfConflict: boolean): Problem {
  const code = codeOf(error);
  return {
    sentence: `${not}: ${sentenceOf(error)}`,
    remedy: (code && REMEDIES[code]) || null,
    isOfConflict,
    // The server's own, for a file that is resolved in this moment is no longer found by whoever asks after it.
    files: filesOf(error),
  };
}

function filesOf(error: unknown): readonly string[] {
  const details = error instanceof Refused ? error.details : null;
  const files = details && typeof details === "object" && "files" in details ? details.files : null;
  return Array.isArray(files) ? files.map(String) : [];
}

/** What was said of a conflict says nothing once one of its files is resolved, or of the next one. */
export const isOver = ({ isOfConflict, files }: Problem, status: BranchStatus | undefined) =>
  isOfConflict &&
  status !== undefined &&
  (status.conflict_op === null || files.some((file) => !status.conflicted_files.includes(file)));
