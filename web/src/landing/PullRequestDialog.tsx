// Opens a pull request for an attempt, or takes up one that somebody opened by hand.

import { useState } from "react";
import type { TaskAttempt } from "../api/types";
import { useWorld } from "../api/world";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { SelectField, TextArea, TextField } from "../ui/Field";
import { Failed } from "../ui/Nothing";
import type { Landing } from "./acts";
import { useTargets } from "./branches";
import styles from "./Landing.module.css";

type Props = { attempt: TaskAttempt; landing: Landing; onClose: () => void };

export function PullRequestDialog({ attempt, landing, onClose }: Props) {
  const task = useWorld((world) => world.tasks.get(attempt.task_id ?? ""));
  const [title, setTitle] = useState(task?.title ?? "");
  const [body, setBody] = useState(task?.description ?? "");
  const [base, setBase] = useState(attempt.target_branch);
  const { names, missing } = useTargets(attempt, base);
  return (
    <Dialog
      title="Create pull request"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={landing.busy}
            disabled={title.trim() === "" && "It needs a title."}
            onClick={() =>
              void landing
                .createPullRequest({ title: title.trim(), body, target_branch: base })
                .then((isDone) => isDone && onClose())
            }
          >
            Create pull request
          </Button>
        </>
      }
    >
      <div className={styles.fields}>
        <p className={styles.quiet}>The branch is pushed first. Nothing is forced.</p>
        <TextField label="Title" value={title} onChange={(event) => setTitle(event.target.value)} autoFocus />
        <TextArea label="Text" rows={8} value={body} onChange={(event) => setBody(event.target.value)} />
        <SelectField label="Base branch" value={base} onChange={(event) => setBase(event.target.value)}>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
        {missing && <Failed isLine what="The branches are" {...missing} />}
        {landing.problem && (
          <p role="alert" className={styles.fail}>
            {landing.problem.sentence}
          </p>
        )}
      </div>
    </Dialog>
  );
}

export function AttachDialog({ landing, onClose }: { landing: Landing; onClose: () => void }) {
  const [number, setNumber] = useState("");
  const parsed = number.trim() === "" ? null : Number(number.trim().replace(/^#/, ""));
  return (
    <Dialog
      title="Attach a pull request"
      width="narrow"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={landing.busy}
            disabled={parsed !== null && !(parsed > 0) && "A number, such as 42."}
            onClick={() => void landing.attach(parsed).then((isDone) => isDone && onClose())}
          >
            Attach
          </Button>
        </>
      }
    >
      <div className={styles.fields}>
        <TextField
          label="Number"
          help="Empty: the pull request of this branch."
          inputMode="numeric"
          value={number}
          onChange={(event) => setNumber(event.target.value)}
          problem={landing.problem?.sentence}
          autoFocus
        />
      </div>
    </Dialog>
  );
}
