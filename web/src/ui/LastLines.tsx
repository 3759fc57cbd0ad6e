// Where a conversation stands, at a glance: its last entries, a line each.

import { useQuery } from "@tanstack/react-query";
import { get } from "../api/client";
import type { TaskAttemptEntries } from "../api/types";
import { keyOf } from "../app/queries";
import { lineOf } from "../facts/lines";
import styles from "./LastLines.module.css";

export function LastLines({ attempt }: { attempt: string }) {
  const { data, error } = useQuery({
    queryKey: keyOf.attempt(attempt, "last lines"),
    queryFn: ({ signal }) => get<TaskAttemptEntries>(`/task-attempts/${attempt}/entries?limit=12`, signal),
  });
  if (error) return <p role="alert">The conversation is not shown: {error.message}</p>;
  const lines = (data?.entries ?? []).flatMap(({ entry, execution_process_id, index }) => {
    const line = lineOf(entry);
    return line ? [{ ...line, key: `${execution_process_id}:${index}` }] : [];
  });
  if (lines.length === 0) return null;
  return (
    <>
      <h3 className={styles.head}>Last lines</h3>
      <ol className={styles.lines}>
        {lines.slice(-8).map(({ key, who, text }) => (
          <li key={key} data-who={who}>
            {text}
          </li>
        ))}
      </ol>
    </>
  );
}
