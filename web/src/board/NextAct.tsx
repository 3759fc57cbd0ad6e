// The one next thing to do about a card, as a button on it.

import { Link } from "wouter";
import type { Acting } from "../app/acting";
import { useAway } from "../app/away";
import { goOn, moveTask, openAttempt, startTask, stopAttempt } from "../app/task-acts";
import { goingOn } from "../facts/going-on";
import { AskButtons } from "../ui/AskButtons";
import { Button } from "../ui/Button";
import styles from "./Card.module.css";
import { ownDoing } from "./calm";
import type { Card } from "./cards";

type Props = { card: Card; acting: Acting; isTabStop: boolean };

export function NextAct({ card, acting, isTabStop }: Props) {
  const { task, facts } = card;
  const { attempt, ask } = facts;
  const away = useAway();
  const button = (words: string, run: () => void, more: { hint?: string; kind?: "primary" } = {}) => (
    <Button
      key={words}
      size="small"
      label={acting.busy ? undefined : `${words}: ${task.title}`}
      busy={acting.busy}
      disabled={away}
      tabIndex={isTabStop ? 0 : -1}
      onClick={() => {
        ownDoing();
        run();
      }}
      {...more}
    >
      {words}
    </Button>
  );
  const link = (words: string, href: string) => (
    <Link
      key={words}
      className={styles.go}
      href={href}
      draggable={false}
      tabIndex={isTabStop ? 0 : -1}
      aria-label={`${words}: ${task.title}`}
    >
      {words}
    </Link>
  );

  // The composer has the focus there, so that what is left is to write and to send.
  const reply = (id: string) => button("Reply", () => openAttempt(id, "reply"));
  const way = attempt && goingOn(facts.state, attempt.executor);
  const sendOn = way && button(way.words, () => goOn(task.id, attempt, way));

  if (acting.busy && !ask) return <div className={styles.acts}>{button(acting.busy, () => {})}</div>;
  if (facts.state === "wish")
    return (
      <div className={styles.acts} data-quiet>
        {button("Start", () => startTask(task.id))}
      </div>
    );
  if (facts.state === "done" && task.status === "done")
    return (
      <div className={styles.acts} data-quiet>
        {button("Archive", () => moveTask(task.id, "archived"))}
      </div>
    );
  if (!attempt) return null;
  if (ask)
    return (
      <div className={styles.acts}>
        <AskButtons ask={ask} size="small" title={task.title} />
      </div>
    );
  switch (facts.state) {
    case "preparing":
      return (
        <div className={styles.acts} data-quiet>
          {link("Log", `/a/${attempt.id}?tab=runs`)}
        </div>
      );
    case "stalled":
      return (
        <div className={styles.acts}>
          {sendOn ?? reply(attempt.id)}
          {button("Stop", () => void stopAttempt(task.id, attempt.id))}
        </div>
      );
    case "limited":
      return (
        <div className={styles.acts} data-quiet>
          {sendOn}
        </div>
      );
    case "failed":
      return (
        <div className={styles.acts}>
          {reply(attempt.id)}
          {sendOn}
        </div>
      );
    case "stopped":
      return (
        <div className={styles.acts} data-quiet>
          {reply(attempt.id)}
          {sendOn}
        </div>
      );
    case "conflict":
      // What there is to choose from stands in its landing strip.
      return <div className={styles.acts}>{link("Resolve", `/a/${attempt.id}?tab=land`)}</div>;
    case "review":
      return (
        <div className={styles.acts} data-quiet>
          {reply(attempt.id)}
          {link("Review", `/a/${attempt.id}?tab=changes`)}
        </div>
      );
    case "pull request":
      return attempt.pull_request ? (
        <div className={styles.acts} data-quiet>
          <a
            className={styles.go}
            href={attempt.pull_request.url}
            target="_blank"
            rel="noreferrer"
            draggable={false}
            aria-label={`Open the pull request of ${task.title}`}
          >
            Open
          </a>
        </div>
      ) : null;
    default:
      return null;
  }
}
