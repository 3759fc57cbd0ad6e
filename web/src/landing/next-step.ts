// The next step of landing an attempt, from how its branch stands: which verb, in which words, and why not now. Pure.

import type { BranchStatus, PullRequestInfo, TaskAttempt } from "../api/types";
import { counted } from "../ui/numbers";

export type Step =
  | { verb: "merge" | "rebase then merge" | "resolve" | "continue"; words: string }
  | { verb: "create pull request" | "push"; words: string }
  | { verb: "open pull request"; words: string; url: string }
  | { verb: "nothing"; words: string; why: string };

type About = Pick<TaskAttempt, "state" | "in_place">;

export function nextStep(attempt: About, status: BranchStatus): Step {
  const { target_branch_name: target, conflicted_files, conflict_op } = status;
  const nothing = (why: string): Step => ({ verb: "nothing", words: "Nothing to merge", why });
  if (attempt.in_place) return nothing("It works in your own checkout: what it changed is there already.");
  if (conflict_op && conflicted_files.length > 0)
    return {
      verb: "resolve",
      words: `Let the agent resolve ${counted(conflicted_files.length, "conflict")}`,
    };
  if (conflict_op === "rebase") return { verb: "continue", words: "Continue rebase" };
  if (conflict_op) return nothing(`A ${conflict_op.replace("_", "-")} waits in its worktree.`);
  const open = openPullRequest(status);
  if (open) {
    const unpushed = (status.remote_commits_ahead ?? 0) + (isDirty(status) ? 1 : 0);
    if (unpushed > 0 && !isBusy(attempt))
      return { verb: "push", words: `Push ${counted(unpushed, "commit")}` };
    return { verb: "open pull request", words: `Open #${open.number}`, url: open.url };
  }
  if (status.commits_ahead === null)
    return nothing(`${target} does not exist any more. Change the target branch.`);
  if (status.commits_ahead === 0 && !isDirty(status)) {
    const merged = status.merges.find(
      (merge) => merge.type === "direct" || merge.pr_info.status === "merged",
    );
    return nothing(
      merged ? `Merged into ${merged.target_branch_name}.` : `No changes against ${target} yet.`,
    );
  }
  if (/^(origin|upstream)\//.test(target))
    return { verb: "create pull request", words: "Create pull request" };
  if ((status.commits_behind ?? 0) > 0) return { verb: "rebase then merge", words: "Rebase then merge" };
  return { verb: "merge", words: `Merge into ${target}` };
}

export const isBusy = ({ state }: Pick<TaskAttempt, "state">) => state === "running" || state === "waiting";

export const isDirty = (status: BranchStatus) => status.has_uncommitted_changes === true;

export function openPullRequest(status: BranchStatus): PullRequestInfo | null {
  for (const merge of status.merges)
    if (merge.type === "pr" && merge.pr_info.status === "open") return merge.pr_info;
  return null;
}

/** `3 commits`, and what is not committed yet becomes one more. */
export const commitsToLand = (status: BranchStatus) =>
  counted((status.commits_ahead ?? 0) + (isDirty(status) ? 1 : 0), "commit");

/** What an agent is told to do about conflicts. */
export const resolvePrompt = (target: string, files: readonly string[]) =>
  [
    `The rebase onto ${target} stopped because these files conflict:`,
    files.map((file) => `- ${file}`).join("\n"),
    "Resolve every conflict so that the intent of both sides stays, and leave no conflict marks. " +
      "Run `git add` for a file that is right as it stands. " +
      "The rebase goes on by itself when your turn ends.",
  ].join("\n\n");
