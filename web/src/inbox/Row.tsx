// One thing of the inbox as a line: what it is, of which task and project, since when. On a phone it also takes the answer.

import { Link } from "wouter";
import { useWorld } from "../api/world";
import { useActing } from "../app/acting";
import type { InboxItem, Kind } from "../facts/inbox";
import type { State } from "../facts/state";
import { AskButtons } from "../ui/AskButtons";
import type { Answering } from "../ui/answer";
import { Button } from "../ui/Button";
import { StateMark } from "../ui/StateMark";
import { Ago, age } from "../ui/time";
import { useAnswerHere } from "./answer";
import styles from "./Inbox.module.css";

export const STATE_OF: Record<Kind, State> = {
  approval: "asks approval",
  question: "asks question",
  plan: "asks plan",
  failed: "failed",
  conflict: "conflict",
  stall: "stalled",
  limit: "limited",
  finished: "review",
};

type Props = {
  item: InboxItem;
  isChosen: boolean;
  answering: Answering | undefined;
  onChoose: () => void;
  onDismiss: () => void;
};

export function Row({ item, isChosen, answering, onChoose, onDismiss }: Props) {
  const project = useWorld((world) => world.projects.get(item.attempt.project_id)?.name ?? "");
  const { problem } = useActing(item.attempt.id);
  const own = useAnswerHere(item.ask);
  const since = age(Date.now() - Date.parse(item.since));
  return (
    <li
      className={styles.row}
      aria-label={`${item.kind}, ${item.title}, ${project}, ${since}`}
      aria-current={isChosen ? "true" : undefined}
      data-kind={item.kind}
    >
      <Link
        href={`/a/${item.attempt.id}`}
        className={styles.line}
        tabIndex={isChosen ? 0 : -1}
        onFocus={onChoose}
        onClick={(event) => {
          // Beside a preview a click chooses; Enter (which has no pointer), or a click where there is none, goes there.
          if (!isWide() || event.detail === 0 || event.metaKey || event.ctrlKey) return;
          event.preventDefault();
          onChoose();
        }}
      >
        <StateMark state={STATE_OF[item.kind]} />
        <span className={styles.kind}>{item.kind}</span>
        <span className={styles.title}>{item.title}</span>
        <span className={styles.project}>{project}</span>
        <span className={styles.since}>
          <Ago since={item.since} />
        </span>
        {item.reason && <span className={styles.reason}>{item.reason}</span>}
      </Link>
      <div className={styles.acts}>
        {item.ask ? (
          <AskButtons ask={item.ask} title={item.title} answering={answering ?? own} />
        ) : (
          <Button label={`Dismiss: ${item.title}`} onClick={onDismiss}>
            Dismiss
          </Button>
        )}
      </div>
      {problem && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </li>
  );
}

/** There is room for the preview, as the style sheet decides it. */
const isWide = () => matchMedia("(min-width: 900px)").matches;
