// Asks for one of a project's branches.

import { useState } from "react";
import type { TaskAttempt } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { SelectField } from "../ui/Field";
import { Failed } from "../ui/Nothing";
import type { Landing } from "./acts";
import { useTargets } from "./branches";
import styles from "./Landing.module.css";

type Props = {
  title: string;
  verb: string;
  about: string;
  attempt: TaskAttempt;
  landing: Landing;
  onChoose: (branch: string) => Promise<boolean>;
  onClose: () => void;
};

export function BranchDialog({ title, verb, about, attempt, landing, onChoose, onClose }: Props) {
  const [branch, setBranch] = useState(attempt.target_branch);
  const { names, missing } = useTargets(attempt, branch);
  return (
    <Dialog
      title={title}
      width="narrow"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={landing.busy}
            disabled={branch === attempt.target_branch && "It is the target already."}
            onClick={() => void onChoose(branch).then((isDone) => isDone && onClose())}
          >
            {verb}
          </Button>
        </>
      }
    >
      <div className={styles.fields}>
        <p className={styles.quiet}>{about}</p>
        {missing && <Failed isLine what="The branches are" {...missing} />}
        <SelectField
          label="Branch"
          value={branch}
          onChange={(event) => setBranch(event.target.value)}
          problem={landing.problem?.sentence}
        >
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
      </div>
    </Dialog>
  );
}
