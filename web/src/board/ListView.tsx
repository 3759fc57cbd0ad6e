// The tasks as a list, one line each: the answer to a wall of cards. Of all projects it is divided into lanes.

import { memo, useEffect, useMemo, useRef } from "react";
import { VList } from "virtua";
import { Link } from "wouter";
import { useWorld, world } from "../api/world";
import { forgetProblem, useActing } from "../app/acting";
import { agentWord } from "../facts/agents";
import { LOOKS } from "../facts/state";
import { Button } from "../ui/Button";
import { counted, money } from "../ui/numbers";
import { StateMark } from "../ui/StateMark";
import { sentence } from "../ui/sentence";
import { giveFocus, setActive, useActive } from "./active";
import { useBoard } from "./BoardContext";
import { cardOf, sameCard } from "./cards";
import styles from "./List.module.css";
import { hrefOf, Lines, When } from "./Meta";

type Line = { id: string } | { lane: string; count: number };

export function ListView({ ids }: { ids: readonly string[] }) {
  const { isOfAllProjects } = useBoard();
  const lines = useMemo(
    () => (isOfAllProjects ? lanes(ids) : ids.map((id) => ({ id }))),
    [ids, isOfAllProjects],
  );
  const activeHere = useActive((active) => (active.card && ids.includes(active.card) ? active.card : null));
  const tabStop = activeHere ?? ids[0];
  const kept = useMemo(
    () => lines.flatMap((line, index) => ("id" in line && line.id === tabStop ? [index] : [])),
    [lines, tabStop],
  );
  return (
    <VList
      className={styles.list}
      data-windowed
      role="list"
      aria-label={counted(ids.length, "task")}
      data={lines}
      itemSize={28}
      keepMounted={kept}
    >
      {(line) =>
        "id" in line ? (
          <Row key={line.id} id={line.id} isTabStop={line.id === tabStop} />
        ) : (
          <div key={`lane ${line.lane}`} className={styles.lane} role="listitem">
            <h2>{line.lane}</h2> <span>{line.count}</span>
          </div>
        )
      }
    </VList>
  );
}

/** The same tasks, the projects one after the other. */
export function lanes(ids: readonly string[], projectOf = nameOfProject): Line[] {
  const byProject = new Map<string, string[]>();
  for (const id of ids) {
    const name = projectOf(id);
    const list = byProject.get(name);
    if (list) list.push(id);
    else byProject.set(name, [id]);
  }
  return [...byProject]
    .sort(([a], [b]) => a.localeCompare(b))
    .flatMap(([lane, list]) => [{ lane, count: list.length }, ...list.map((id) => ({ id }))]);
}

function nameOfProject(id: string) {
  const { tasks, projects } = world();
  return projects.get(tasks.get(id)?.project_id ?? "")?.name ?? "";
}

const Row = memo(function Row({ id, isTabStop }: { id: string; isTabStop: boolean }) {
  const card = useWorld((world) => cardOf(world, id), sameCard);
  const { busy, problem } = useActing(id);
  const { menu, isOfAllProjects } = useBoard();
  const link = useRef<HTMLAnchorElement>(null);
  const isSelected = useActive((active) => active.selected.has(id));
  const wantsFocus = useActive((active) => active.wantsFocus && active.card === id);
  useEffect(() => {
    if (wantsFocus) giveFocus(id, link.current);
  }, [wantsFocus, id]);
  if (!card) return null;
  const { task, facts, project } = card;
  const { attempt } = facts;
  return (
    <div
      role="listitem"
      className={styles.row}
      data-task={id}
      data-state={facts.state}
      data-selected={isSelected || undefined}
      data-problem={problem !== null || undefined}
      onFocus={() => setActive(id)}
      onContextMenu={(event) => {
        event.preventDefault();
        menu(id, { x: event.clientX, y: event.clientY });
      }}
    >
      <span className={styles.mark}>
        <StateMark state={facts.state} size={14} />
      </span>
      <Link ref={link} href={hrefOf(card)} className={styles.title} tabIndex={isTabStop ? 0 : -1}>
        {task.title}
      </Link>
      <span className={styles.reason}>
        {(busy ? `${busy}…` : facts.reason && sentence(facts.reason)) ?? LOOKS[facts.state].words}
      </span>
      <span className={styles.cell}>{isOfAllProjects ? project : ""}</span>
      <span className={styles.cell}>{attempt ? agentWord(attempt.executor) : ""}</span>
      <span className={styles.number}>
        <When card={card} />
      </span>
      <span className={styles.number}>
        {attempt?.files_changed ? (
          <Lines added={attempt.lines_added ?? 0} deleted={attempt.lines_deleted ?? 0} />
        ) : null}
      </span>
      <span className={styles.number}>{attempt?.cost_micros ? money(attempt.cost_micros) : ""}</span>
      <Button
        kind="quiet"
        size="small"
        icon="more"
        label={`Actions for ${task.title}`}
        aria-haspopup="menu"
        tabIndex={isTabStop ? 0 : -1}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          menu(id, { x: box.left, y: box.top, width: box.width, height: box.height });
        }}
      />
      {problem && (
        <p className={styles.problem} role="alert">
          <span>{problem}</span>
          <Button size="small" kind="quiet" icon="close" label="Close" onClick={() => forgetProblem(id)} />
        </p>
      )}
    </div>
  );
});
