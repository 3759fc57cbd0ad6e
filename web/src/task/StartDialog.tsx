// Starts an attempt of a task: with which agent, and on which branch.

import { useState } from "react";
import { sentenceOf } from "../api/client";
import { useWorld } from "../api/world";
import { likelyBase, likelyProfile, whyNotReady } from "../app/agents";
import { useAway } from "../app/away";
import { useInfo } from "../app/info";
import { say } from "../app/notices";
import { startAttempt } from "../app/task-acts";
import { profileInFull, profileOf } from "../facts/agents";
import { indexOf } from "../facts/index-of";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { AgentChoice } from "./AgentChoice";
import { BaseChoice } from "./BaseChoice";
import { Risk } from "./Risk";
import styles from "./Task.module.css";

export function StartDialog({ task: id, onClose }: { task: string; onClose: () => void }) {
  const task = useWorld((world) => world.tasks.get(id));
  const attempts = useWorld((world) => indexOf(world).attemptsOf(id).length);
  const { data: info } = useInfo();
  const [chosen, setChosen] = useState<string | null>(null);
  const [base, setBase] = useState<string | null>(task ? likelyBase(task.project_id) : null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const away = useAway();
  if (!task) return null;
  const profile = chosen ?? likelyProfile(task.project_id, info) ?? "";
  const agent = info?.agents.find(({ executor }) => executor === profileOf(profile).executor);
  const start = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await startAttempt(id, profile, base);
      say(`Started with ${profileInFull(profileOf(profile))}.`);
      onClose();
    } catch (error) {
      setProblem(sentenceOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={attempts > 0 ? "Another attempt" : "Start"}
      width="narrow"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            data-autofocus
            busy={busy && "Starting"}
            disabled={away ?? whyNotReady(agent) ?? (profile ? null : "Choose an agent first.")}
            onClick={() => void start()}
          >
            Start
          </Button>
        </>
      }
    >
      <div className={styles.fields}>
        <p className={styles.about}>{task.title}</p>
        <AgentChoice value={profile || null} onChange={setChosen} />
        <BaseChoice project={task.project_id} value={base} onChange={setBase} />
        <Risk project={task.project_id} profiles={[profile]} />
        {problem && (
          <p className={styles.problem} role="alert">
            {problem}
          </p>
        )}
      </div>
    </Dialog>
  );
}
