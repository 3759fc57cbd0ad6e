// Starts an attempt of a task: with which agent, and on which branch.

import { useState } from "react";
import { sentenceOf } from "../api/client";
import { useWorld } from "../api/world";
import { likelyBase, likelyProfile, profilesOf, whyNotReady } from "../app/agents";
import { useAway } from "../app/away";
import { useInfo } from "../app/info";
import { say } from "../app/notices";
import { startAttempt, wayTo } from "../app/task-acts";
import { profileInFull, profileOf } from "../facts/agents";
import { indexOf } from "../facts/index-of";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { AgentChoice } from "./AgentChoice";
import { BaseChoice } from "./BaseChoice";
import { Risk } from "./Risk";
import styles from "./Task.module.css";

/** So many profiles are offered at once; the rest is in the list. */
const MOST = 6;

export function StartDialog({ task: id, onClose }: { task: string; onClose: () => void }) {
  const task = useWorld((world) => world.tasks.get(id));
  const attempts = useWorld((world) => indexOf(world).attemptsOf(id).length);
  const { data: info } = useInfo();
  const [chosen, setChosen] = useState<string | null>(null);
  const [base, setBase] = useState<string | null>(task ? likelyBase(task.project_id, id) : null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const away = useAway();
  if (!task) return null;
  const profile = chosen ?? likelyProfile(task.project_id, info, id) ?? "";
  const agent = info?.agents.find(({ executor }) => executor === profileOf(profile).executor);
  const why = away ?? whyNotReady(agent) ?? (profile ? null : "Choose an agent first.");
  // Who wants another agent is one click away from it.
  const others = (info ? profilesOf(info) : [])
    .filter((group) => group.agent && whyNotReady(group.agent) === null)
    .flatMap(({ keys }) => keys)
    .filter((key) => key !== profile)
    .slice(0, MOST);
  const start = async (profile: string) => {
    setBusy(true);
    setProblem(null);
    try {
      const attempt = await startAttempt(id, profile, base);
      say(`Started with ${profileInFull(profileOf(profile))}.`, wayTo(attempt.id));
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
          <Button kind="primary" busy={busy && "Starting"} disabled={why} onClick={() => void start(profile)}>
            Start
          </Button>
        </>
      }
    >
      <div className={styles.fields}>
        <p className={styles.about}>{task.title}</p>
        <AgentChoice
          value={profile || null}
          onChange={setChosen}
          onEnter={why || busy ? undefined : () => void start(profile)}
        />
        {others.length > 0 && (
          <div className={styles.others} role="group" aria-label="Or at once with">
            <span aria-hidden="true">Or at once with</span>
            {others.map((key) => (
              <Button
                key={key}
                size="small"
                icon="play"
                disabled={away ?? (busy && "One is being started.")}
                onClick={() => void start(key)}
              >
                {profileInFull(profileOf(key))}
              </Button>
            ))}
          </div>
        )}
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
