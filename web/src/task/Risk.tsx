// The honest sentence about what agents may do, where it matters: before the first start in a project.

import { useWorld } from "../api/world";
import { profileOf } from "../facts/agents";
import styles from "./Task.module.css";

const ASKS_FIRST = ["APPROVALS", "PLAN"];

export function Risk({ project, profiles }: { project: string; profiles: readonly string[] }) {
  const isFirst = useWorld((world) => {
    for (const attempt of world.attempts.values()) if (attempt.project_id === project) return false;
    return true;
  });
  if (!isFirst) return null;
  const asks = profiles.every((key) => ASKS_FIRST.includes(profileOf(key).variant ?? ""));
  return (
    <p className={styles.risk}>
      Agents run commands as you. {asks ? "This profile asks first." : "This profile does not ask first."}
    </p>
  );
}
