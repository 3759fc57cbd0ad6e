// Asks for one of a project's branches.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get } from "../api/client";
import type { GitBranch, TaskAttempt } from "../api/types";
import { keyOf } from "../app/queries";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { SelectField } from "../ui/Field";
import { Failed } from "../ui/Nothing";
import type { Landing } from "./acts";
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

export function useBranches(project: string) {
  return useQuery({
    queryKey: keyOf.project(project, "branches"),
    queryFn: ({ signal }) => get<GitBranch[]>(`/projects/${project}/branches`, signal),
  });
}

export function BranchDialog({ title, verb, about, attempt, landing, onChoose, onClose }: Props) {
  const { data, error } = useBranches(attempt.project_id);
  const [branch, setBranch] = useState(attempt.target_branch);
  const names = (data ?? []).map(({ name }) => name).filter((name) => name !== attempt.branch);
  if (!names.includes(branch)) names.unshift(branch);
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
        {error && <Failed what="The branches are" error={error} />}
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
