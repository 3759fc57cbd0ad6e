// What is asked before a task is taken somewhere that would stop an agent or pass over its changes.

import { useState } from "react";
import { useWorld } from "../api/world";
import { moveTask, openAttempt, stopAttempt } from "../app/task-acts";
import { type ColumnId, columnWords } from "../facts/state";
import { Button } from "../ui/Button";
import { Confirm, Dialog } from "../ui/Dialog";
import { counted } from "../ui/numbers";
import styles from "./Board.module.css";
import { ownDoing } from "./calm";
import type { Meaning } from "./moves";

export type Question = {
  task: string;
  to: ColumnId;
  meaning: Extract<Meaning, { kind: "ask stop" | "ask done" }>;
};

export function MoveQuestion({ question, onClose }: { question: Question; onClose: () => void }) {
  const { task, to, meaning } = question;
  const title = useWorld((world) => world.tasks.get(task)?.title ?? "");
  const [isStopping, setStopping] = useState(false);
  const move = () => {
    ownDoing();
    onClose();
    moveTask(task, to);
  };
  if (meaning.kind === "ask stop")
    return (
      <Confirm
        title="Stop the agent?"
        verb={`Stop and move to ${columnWords(to)}`}
        isDestructive
        busy={isStopping && "Stopping"}
        onClose={onClose}
        onConfirm={async () => {
          setStopping(true);
          // A refusal stands on the card.
          if (await stopAttempt(task, meaning.attempt)) move();
          else onClose();
        }}
      >
        An agent is working on “{title}”. Its work so far is kept.
      </Confirm>
    );
  const { attempt, files } = meaning;
  return (
    <Dialog
      title={attempt ? "Mark done without merging?" : "Mark done?"}
      isAlert
      width="narrow"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose} data-autofocus>
            Cancel
          </Button>
          {attempt && (
            <Button
              kind="primary"
              onClick={() => {
                onClose();
                openAttempt(attempt, "land");
              }}
            >
              Merge first
            </Button>
          )}
          <Button onClick={move}>{attempt ? "Mark done and keep the branch" : "Mark done"}</Button>
        </>
      }
    >
      <p className={styles.question}>
        {attempt
          ? `${files === null ? "Its changes are" : `${counted(files, "changed file")} ${files === 1 ? "is" : "are"}`} not merged.`
          : "No agent has worked on it yet."}
      </p>
    </Dialog>
  );
}
