// The chosen thing of the inbox: its facts, what is asked with the buttons to answer, and where the conversation stands.

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { get } from "../api/client";
import type { TaskAttemptEntries } from "../api/types";
import { useWorld } from "../api/world";
import { runSoon, shown } from "../app/keys";
import { keyOf } from "../app/queries";
import { agentWord, profileWords } from "../facts/agents";
import type { InboxItem } from "../facts/inbox";
import type { Answering } from "../ui/answer";
import { Button } from "../ui/Button";
import { MenuButton, type MenuItem } from "../ui/Menu";
import { compact, counted, money } from "../ui/numbers";
import { Ago } from "../ui/time";
import styles from "./Inbox.module.css";
import { lineOf } from "./lines";
import { Request } from "./Request";

type Props = {
  item: InboxItem;
  answering: Answering;
  onDismiss: () => void;
  laters: () => readonly MenuItem[];
};

export function Preview({ item, answering, onDismiss, laters }: Props) {
  const { attempt, ask } = item;
  const project = useWorld((world) => world.projects.get(attempt.project_id)?.name);
  return (
    <section className={styles.preview} aria-label="Preview">
      <header>
        <h2>{item.title}</h2>
        <p className={styles.facts}>
          {[
            project,
            profileWords(attempt.executor_profile_id),
            attempt.branch,
            attempt.files_changed ? counted(attempt.files_changed, "file") : null,
            attempt.lines_added !== null && attempt.lines_added !== undefined
              ? `+${compact(attempt.lines_added)} −${compact(attempt.lines_deleted ?? 0)}`
              : null,
            attempt.cost_micros ? money(attempt.cost_micros) : null,
          ]
            .filter(Boolean)
            .join(" · ")}{" "}
          · <Ago since={item.since} />
        </p>
      </header>
      {ask ? (
        <Request ask={ask} answering={answering} agent={agentWord(attempt.executor)} />
      ) : (
        item.reason && <p className={styles.why}>{item.reason}</p>
      )}
      <div className={styles.more}>
        <Link className={styles.open} href={`/a/${attempt.id}`}>
          {VERBS[item.kind] ?? "Open"}
        </Link>
        <Link className={styles.open} href={`/a/${attempt.id}`} onClick={() => runSoon("reply")}>
          Reply <kbd aria-hidden="true">r</kbd>
        </Link>
        <Button hint="e" onClick={onDismiss}>
          Dismiss
        </Button>
        <MenuButton label={`Later ${shown("Shift+z")}`} items={laters}>
          Later
        </MenuButton>
      </div>
      <LastLines attempt={attempt.id} />
    </section>
  );
}

const VERBS: Partial<Record<InboxItem["kind"], string>> = { conflict: "Resolve", finished: "Review" };

function LastLines({ attempt }: { attempt: string }) {
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
      <h3>Last lines</h3>
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
