// What landing asks before it acts: each says what is kept.

import type { BranchStatus, TaskAttempt } from "../api/types";
import { Confirm } from "../ui/Dialog";
import { counted } from "../ui/numbers";
import type { Landing } from "./acts";
import { BranchDialog } from "./BranchDialog";
import { commitsToLand, isDirty } from "./next-step";
import { AttachDialog, PullRequestDialog } from "./PullRequestDialog";
import type { Asked } from "./verbs";

type DialogsProps = {
  attempt: TaskAttempt;
  status: BranchStatus;
  landing: Landing;
  open: Asked;
  onClose: () => void;
};

export function Dialogs({ attempt, status, landing, open, onClose }: DialogsProps) {
  const target = attempt.target_branch;
  const [commits, behind] = [commitsToLand(status), counted(status.commits_behind ?? 0, "commit")];
  const then = (isDone: Promise<boolean>) => void isDone.then(onClose);
  const kept = (
    <>
      It lands as one commit on {target}. The branch, and what it was before, are kept.
      {isDirty(status) && " What is not committed yet is committed first."}
    </>
  );
  switch (open) {
    case "merge":
      return (
        <Confirm
          title={`Merge ${commits} into ${target}?`}
          verb={`Merge ${commits}`}
          busy={landing.busy ?? false}
          onConfirm={() => then(landing.merge())}
          onClose={onClose}
        >
          {kept}
        </Confirm>
      );
    case "rebase then merge":
      return (
        <Confirm
          title={`Rebase, then merge ${commits} into ${target}?`}
          verb="Rebase then merge"
          busy={landing.busy ?? false}
          onConfirm={() => then(landing.rebaseThenMerge())}
          onClose={onClose}
        >
          {target} moved on by {behind}. {kept} If something conflicts, nothing is merged.
        </Confirm>
      );
    case "resolve":
      return (
        <Confirm
          title={`Let the agent resolve ${counted(status.conflicted_files.length, "conflict")}?`}
          verb="Let the agent resolve it"
          busy={landing.busy ?? false}
          onConfirm={() => then(landing.resolve(status.conflicted_files))}
          onClose={onClose}
        >
          The agent starts another turn on {status.conflicted_files.join(", ")}. You can resolve it yourself
          instead: open the files in the editor, then continue the rebase.
        </Confirm>
      );
    case "abort":
      return (
        <Confirm
          title="Abort the rebase?"
          verb="Abort rebase"
          isDestructive
          busy={landing.busy ?? false}
          onConfirm={() => then(landing.abort())}
          onClose={onClose}
        >
          The branch and its files go back to before the rebase. A snapshot keeps what the files are now.
        </Confirm>
      );
    case "pull request":
      return <PullRequestDialog attempt={attempt} landing={landing} onClose={onClose} />;
    case "attach":
      return <AttachDialog landing={landing} onClose={onClose} />;
    case "change target":
      return (
        <BranchDialog
          title="Change target branch"
          verb="Change target"
          about="The attempt lands there. No commit moves."
          {...{ attempt, landing, onClose }}
          onChoose={landing.changeTarget}
        />
      );
    case "rebase onto":
      return (
        <BranchDialog
          title="Rebase onto another branch"
          verb="Rebase"
          about="Its commits are built again on that branch, which becomes the target."
          {...{ attempt, landing, onClose }}
          onChoose={landing.rebase}
        />
      );
  }
}
