// Every verb of landing as a menu has them; one that cannot be done now says why.

import type { BranchStatus, TaskAttempt } from "../api/types";
import type { MenuItem } from "../ui/Menu";
import { counted } from "../ui/numbers";
import { type Landing, visit } from "./acts";
import { isBusy, isDirty, openPullRequest } from "./next-step";

/** What is asked for in a dialog before it is done. */
export type Asked =
  | "merge"
  | "resolve"
  | "rebase then merge"
  | "pull request"
  | "attach"
  | "change target"
  | "rebase onto"
  | "abort";

export const AT_WORK = "The agent is at work.";

export function verbs(
  attempt: TaskAttempt,
  status: BranchStatus,
  landing: Landing,
  open: (what: Asked) => void,
): MenuItem[] {
  const target = attempt.target_branch;
  const busy = isBusy(attempt) && AT_WORK;
  const stuck = status.conflict_op !== null && "A rebase waits: resolve or abort it first.";
  const empty = status.commits_ahead === 0 && !isDirty(status) && "There is nothing to merge.";
  const inPlace = attempt.in_place && "It works in your own checkout.";
  const behind = status.commits_behind ?? 0;
  const request = openPullRequest(status);
  const isMerged = status.merges[0]?.type === "direct";
  return [
    {
      words: `Merge into ${target}`,
      run: () => open("merge"),
      disabled:
        inPlace ||
        busy ||
        stuck ||
        empty ||
        (behind > 0 && `${target} moved on by ${counted(behind, "commit")}. Rebase first.`),
    },
    {
      words: "Undo the merge",
      run: () => void landing.undoMerge(),
      disabled: busy || (!isMerged && "It is not merged."),
    },
    {
      words: "Rebase then merge",
      run: () => open("rebase then merge"),
      disabled: inPlace || busy || stuck || empty || (behind === 0 && `It is on the newest ${target}.`),
    },
    {
      words: `Rebase onto ${target}`,
      run: () => void landing.rebase(),
      disabled: inPlace || busy || stuck || (behind === 0 && `It is on the newest ${target}.`),
    },
    {
      words: "Rebase onto another branch…",
      run: () => open("rebase onto"),
      disabled: inPlace || busy || stuck,
    },
    "line",
    { words: "Push the branch", run: () => void landing.push(), disabled: inPlace || busy || stuck },
    request
      ? { words: `Open #${request.number}`, icon: "external", run: () => visit(request.url) }
      : {
          words: "Create pull request…",
          run: () => open("pull request"),
          disabled: inPlace || busy || stuck || empty,
        },
    { words: "Attach a pull request…", run: () => open("attach") },
    "line",
    { words: "Change target branch…", run: () => open("change target"), disabled: inPlace || stuck },
    { words: "Open in editor", icon: "external", run: () => void landing.openEditor() },
    {
      words: "Continue rebase",
      run: () => void landing.goOn(),
      disabled: busy || (status.conflict_op !== "rebase" && "No rebase waits."),
    },
    {
      words: "Abort rebase",
      isDanger: true,
      run: () => open("abort"),
      disabled: busy || (status.conflict_op === null && "No rebase waits."),
    },
  ];
}
