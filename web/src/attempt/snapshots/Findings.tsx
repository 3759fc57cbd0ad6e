// What changed outside the worktree while the attempt's processes ran: to be put back, or left as it is.

import { useQuery } from "@tanstack/react-query";
import { get, post } from "../../api/client";
import type { Finding } from "../../api/types";
import { keyOf, queries } from "../../app/queries";
import { useAct } from "../../ui/act";
import { Button } from "../../ui/Button";
import { Failed } from "../../ui/Nothing";
import styles from "./Snapshots.module.css";

export const useFindings = (attempt: string) =>
  useQuery({
    queryKey: keyOf.attempt(attempt, "findings"),
    queryFn: ({ signal }) => get<Finding[]>(`/task-attempts/${attempt}/findings`, signal),
  });

export function Findings({ attempt }: { attempt: string }) {
  const { data, error, refetch } = useFindings(attempt);
  const open = (data ?? []).filter((finding) => finding.state === "seen");
  if (error && !data)
    return (
      <Failed isLine what="Changes outside the worktree are" error={error} again={() => void refetch()} />
    );
  if (open.length === 0) return null;
  return (
    <section className={styles.findings} aria-label="Changed outside the worktree">
      <h2>Changed outside the worktree</h2>
      <ul>
        {open.map((finding) => (
          <OneFinding key={finding.id} attempt={attempt} finding={finding} />
        ))}
      </ul>
    </section>
  );
}

function OneFinding({ attempt, finding }: { attempt: string; finding: Finding }) {
  const act = useAct();
  const settle = (word: string, how: "restore" | "dismiss") =>
    act.run(word, async () => {
      await post(`/task-attempts/${attempt}/findings/${finding.id}/${how}`);
      await queries.invalidateQueries({ queryKey: keyOf.attempt(attempt, "findings") });
    });
  return (
    <li className={styles.snapshot}>
      <p>{finding.text}</p>
      {(finding.before || finding.after) && (
        <p className={styles.meta}>
          was {finding.before ?? "not there"}, is {finding.after ?? "gone"}
        </p>
      )}
      <div className={styles.row}>
        <Button
          size="small"
          busy={act.busy === "Putting back" && act.busy}
          disabled={!finding.can_restore && "It cannot be put back."}
          label={`Put back: ${finding.subject}`}
          onClick={() => void settle("Putting back", "restore")}
        >
          Put back
        </Button>
        <Button
          size="small"
          kind="quiet"
          busy={act.busy === "Dismissing" && act.busy}
          label={`Leave as it is: ${finding.subject}`}
          onClick={() => void settle("Dismissing", "dismiss")}
        >
          Leave as it is
        </Button>
      </div>
      {act.problem && (
        <p role="alert" className={styles.problem}>
          {act.problem}
        </p>
      )}
    </li>
  );
}
