// The grey line of a card: who is at it, how long, how much was changed and what it cost.

import type { ReactNode } from "react";
import { agentWord } from "../facts/agents";
import { compact, counted, money } from "../ui/numbers";
import { Ago, Elapsed } from "../ui/time";
import { useBoard } from "./BoardContext";
import styles from "./Card.module.css";
import type { Card } from "./cards";

/** Where a card leads: to its attempt, or to the task when there is none. */
export const hrefOf = ({ task, facts }: Card) => (facts.attempt ? `/a/${facts.attempt.id}` : `/t/${task.id}`);

export function Meta({ card }: { card: Card }) {
  const { isOfAllProjects } = useBoard();
  const { task, facts, attempts, parts, partOf } = card;
  const { attempt } = facts;
  const pieces: Array<[string, ReactNode]> = [];
  const add = (key: string, piece: ReactNode) => pieces.push([key, piece]);
  if (isOfAllProjects) add("project", <span className={styles.word}>{card.project}</span>);
  if (partOf) add("part", <span className={styles.word}>part of {partOf}</span>);
  if (attempt && facts.state !== "wish") add("agent", agentWord(attempt.executor));
  add("time", <When card={card} />);
  if (attempt && facts.state !== "wish") {
    if (attempt.todos_total)
      add("todos", <span title="to-dos done">{`${attempt.todos_done ?? 0}/${attempt.todos_total}`}</span>);
    if (attempt.files_changed) add("files", counted(attempt.files_changed, "file"));
    if (attempt.files_changed)
      add("lines", <Lines added={attempt.lines_added ?? 0} deleted={attempt.lines_deleted ?? 0} />);
    if (attempt.cost_micros) add("cost", money(attempt.cost_micros));
    if (attempt.comments) add("comments", counted(attempt.comments, "comment"));
    if (attempt.queued) add("queued", `${attempt.queued} queued`);
  }
  if (attempts > 1) add("attempts", counted(attempts, "attempt"));
  if (parts) add("parts", <span title="parts done">{`${parts.done}/${parts.all} parts`}</span>);
  return (
    <div className={styles.meta} data-updated={task.updated_at}>
      {pieces.map(([key, piece]) => (
        <span key={key}>{piece} </span>
      ))}
    </div>
  );
}

export function Lines({ added, deleted }: { added: number; deleted: number }) {
  return (
    <span title={`${added} added, ${deleted} deleted`}>
      <ins className={styles.added}>+{compact(added)}</ins>{" "}
      <del className={styles.deleted}>−{compact(deleted)}</del>
    </span>
  );
}

/** The time that matters in a state: how long it goes on, or how long ago it was. */
export function When({ card: { task, facts } }: { card: Card }) {
  switch (facts.state) {
    case "wish":
      return <Ago since={task.created_at} />;
    case "running":
    case "preparing":
    case "stalled":
    case "asks approval":
    case "asks question":
    case "asks plan":
      return <Elapsed since={facts.since} />;
    case "done":
      return (
        <>
          {facts.attempt?.is_merged ? "merged" : "done"} <Ago since={facts.since} />
        </>
      );
    default:
      return <Ago since={facts.since} />;
  }
}
