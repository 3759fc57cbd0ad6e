// The files of a diff as a list to read: what kind each is, in which order they come, which begin folded. Pure.

import type { Diff } from "../api/types";
import { counted } from "../ui/numbers";

export type Kind = "code" | "test" | "generated";

export type ChangedFile = {
  path: string;
  /** The path before, when it was another. */
  oldPath: string | null;
  kind: Kind;
  diff: Diff;
  added: number;
  deleted: number;
  /** What happened to it beyond its lines, in words: "new", "deleted", "renamed from a.ts". */
  about: string[];
  isConflicted: boolean;
};

const LOCK =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|Pipfile\.lock|uv\.lock|composer\.lock|Gemfile\.lock|go\.sum|flake\.lock|mix\.lock|pubspec\.lock)$/;
const MADE =
  /\.(min\.(js|css)|map|snap|pb\.go|g\.dart)$|(^|\/)(dist|build|vendor|node_modules|__snapshots__|__generated__|generated)\/|[._-]generated\./;
const TEST = /(^|\/)(tests?|__tests__|spec|e2e)\/|[._-](test|spec)\.[^/]+$|(^|\/)test_[^/]+\.py$|_test\.go$/;

export function kindOf(path: string): Kind {
  if (LOCK.test(path) || MADE.test(path)) return "generated";
  return TEST.test(path) ? "test" : "code";
}

export const pathOf = (diff: Diff) => diff.newPath ?? diff.oldPath ?? "";

const RANK: Record<Kind, number> = { code: 0, test: 1, generated: 2 };

/** Code first, then tests, then what a machine wrote; by path within each. */
export function ordered(diffs: Iterable<Diff>, conflicted: readonly string[] = []): ChangedFile[] {
  const inConflict = new Set(conflicted);
  return [...diffs]
    .map((diff) => fileOf(diff, inConflict))
    .sort((a, b) => RANK[a.kind] - RANK[b.kind] || byPath(a.path, b.path));
}

function fileOf(diff: Diff, conflicted: ReadonlySet<string>): ChangedFile {
  const path = pathOf(diff);
  return {
    path,
    oldPath: diff.oldPath !== null && diff.oldPath !== path ? diff.oldPath : null,
    kind: kindOf(path),
    diff,
    added: diff.additions ?? 0,
    deleted: diff.deletions ?? 0,
    about: aboutOf(diff, path),
    isConflicted: conflicted.has(path),
  };
}

function aboutOf(diff: Diff, path: string): string[] {
  const words: string[] = [];
  if (diff.change === "added") words.push("new");
  if (diff.change === "deleted") words.push("deleted");
  if (diff.oldPath !== null && diff.newPath !== null && diff.oldPath !== path)
    words.push(`renamed from ${diff.oldPath}`);
  const mode = modeWords(diff.oldMode, diff.newMode);
  if (mode) words.push(mode);
  if (diff.isBinary) words.push("binary");
  return words;
}

function modeWords(before: string | null, after: string | null): string | null {
  if (after === "160000" || before === "160000") return "repository inside";
  if (after === "120000" && before !== "120000") return before === null ? "link" : "became a link";
  if (before === null || after === null || before === after) return null;
  if (after === "100755") return "made executable";
  if (before === "100755") return "not executable any more";
  return `mode ${before} to ${after}`;
}

// A directory's files stand together, and before the directories within it.
function byPath(a: string, b: string): number {
  const [x, y] = [a.split("/"), b.split("/")];
  for (let n = 0; ; n += 1) {
    const [isFileX, isFileY] = [n === x.length - 1, n === y.length - 1];
    if (isFileX !== isFileY) return isFileX ? -1 : 1;
    const [p = "", q = ""] = [x[n], y[n]];
    if (p !== q) return p < q ? -1 : 1;
    if (isFileX) return 0;
  }
}

/** Why a file begins folded, in the words that stand in its place; null when it begins open. */
export function foldedBecause(file: ChangedFile): string | null {
  const lines = file.added + file.deleted;
  if (file.kind === "generated") return `Generated file, ${counted(lines, "line")}.`;
  if (lines > 5000) return `${counted(lines, "line")}.`;
  if (lines > 400) return `${counted(lines, "changed line")}.`;
  return null;
}

/** `src/server.ts, 1 added, 2 deleted`: the name of a row of the list. */
export function spoken(file: ChangedFile): string {
  const parts = [file.path, ...file.about];
  if (file.isConflicted) parts.push("in conflict");
  if (file.added > 0) parts.push(`${file.added} added`);
  if (file.deleted > 0) parts.push(`${file.deleted} deleted`);
  return parts.join(", ");
}

export type TreeRow =
  | { type: "heading"; words: string }
  | { type: "folder"; path: string; words: string }
  | { type: "file"; file: ChangedFile; depth: number };

const HEADINGS: Record<Kind, string | null> = { code: null, test: "Tests", generated: "Generated" };

/** The list with its directories, each named once; a directory that holds only another is joined with it. */
export function treeOf(files: readonly ChangedFile[]): TreeRow[] {
  const rows: TreeRow[] = [];
  let kind: Kind = "code";
  let folder = "";
  for (const file of files) {
    if (file.kind !== kind) {
      kind = file.kind;
      folder = "";
      const words = HEADINGS[kind];
      if (words) rows.push({ type: "heading", words });
    }
    const at = file.path.lastIndexOf("/");
    const mine = at < 0 ? "" : file.path.slice(0, at);
    if (mine !== folder) {
      folder = mine;
      if (mine) rows.push({ type: "folder", path: mine, words: `${mine}/` });
    }
    rows.push({ type: "file", file, depth: mine ? 1 : 0 });
  }
  return rows;
}

export const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
