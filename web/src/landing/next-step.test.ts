import { expect, test } from "vitest";
import type { BranchStatus, Merge } from "../api/types";
import { commitsToLand, nextStep } from "./next-step";

const status = (more: Partial<BranchStatus> = {}): BranchStatus => ({
  commits_ahead: 2,
  commits_behind: 0,
  conflict_op: null,
  conflicted_files: [],
  has_uncommitted_changes: false,
  head_oid: null,
  is_rebase_in_progress: false,
  merges: [],
  remote_commits_ahead: null,
  remote_commits_behind: null,
  target_branch_name: "main",
  uncommitted_count: 0,
  untracked_count: 0,
  ...more,
});
const rested = { state: "finished" as const, in_place: false };
const words = (more: Partial<BranchStatus>) => nextStep(rested, status(more)).words;
const request = (state: "open" | "merged"): Merge => ({
  type: "pr",
  id: "m",
  task_attempt_id: "a",
  created_at: "2026-01-01T00:00:00Z",
  target_branch_name: "main",
  pr_info: {
    number: 42,
    url: "https://example.invalid/42",
    status: state,
    merged_at: null,
    merge_commit_sha: null,
    checks: null,
  },
});

test("the next step is named by what it does", () => {
  expect(words({})).toBe("Merge into main");
  expect(words({ commits_behind: 1 })).toBe("Rebase then merge");
  expect(words({ conflict_op: "rebase", conflicted_files: ["a", "b"] })).toBe(
    "Let the agent resolve 2 conflicts",
  );
  expect(words({ target_branch_name: "origin/main" })).toBe("Create pull request");
  expect(words({ commits_ahead: 0, has_uncommitted_changes: true })).toBe("Merge into main");
  expect(words({ commits_ahead: 0 })).toBe("Nothing to merge");
});

test("an open pull request is opened, or pushed to when there is more", () => {
  expect(words({ merges: [request("open")], remote_commits_ahead: 0 })).toBe("Open #42");
  expect(words({ merges: [request("open")], remote_commits_ahead: 2 })).toBe("Push 2 commits");
});

test("what is not to be merged says why", () => {
  const merged = nextStep(rested, status({ commits_ahead: 0, merges: [request("merged")] }));
  expect(merged).toMatchObject({ verb: "nothing", why: "Merged into main." });
  expect(nextStep(rested, status({ commits_ahead: null }))).toMatchObject({ verb: "nothing" });
  expect(nextStep({ ...rested, in_place: true }, status())).toMatchObject({ verb: "nothing" });
});

test("what is uncommitted becomes one commit more", () => {
  expect(commitsToLand(status())).toBe("2 commits");
  expect(commitsToLand(status({ commits_ahead: 0, has_uncommitted_changes: true }))).toBe("1 commit");
});

test("a rebase whose conflicts are resolved is gone on with before anything else", () => {
  const waiting = status({ conflict_op: "rebase", is_rebase_in_progress: true });
  expect(nextStep(rested, waiting)).toEqual({ verb: "continue", words: "Continue rebase" });
  expect(nextStep(rested, status({ conflict_op: "merge" })).verb).toBe("nothing");
});
