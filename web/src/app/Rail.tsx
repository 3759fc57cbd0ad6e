// The rail: where to go, how many things wait there, and whether the server is there.

import { Link, useLocation } from "wouter";
import { useConnection } from "../api/live";
import { sameList, useWorld, type World } from "../api/world";
import { clock } from "../facts/clock";
import { inboxOf } from "../facts/inbox";
import { indexOf } from "../facts/index-of";
import { projectsByName } from "../facts/projects";
import { Icon, type IconName } from "../ui/Icon";
import { openOverlay } from "./overlays";
import styles from "./Rail.module.css";

export function Rail() {
  const waiting = useWorld((world) => inboxOf(world).length);
  const projects = useWorld(
    projectRows,
    (a, b) => a.length === b.length && a.every((row, i) => sameList(row, b[i] ?? [])),
  );
  return (
    <nav className={styles.rail} aria-label="Main">
      <Entry
        to="/inbox"
        icon="inbox"
        words="Inbox"
        count={waiting}
        label={waiting > 0 ? `Inbox, ${waiting} need you` : "Inbox"}
        isAsk
      />
      <Entry to="/" icon="board" words="All projects" />
      <ul className={styles.projects}>
        {projects.map(([id, name, running, asks]) => (
          <li key={id}>
            <Entry
              to={`/p/${id}`}
              icon="folder"
              words={name}
              count={asks || running}
              isAsk={asks > 0}
              label={`${name}${asks > 0 ? `, ${asks} need you` : ""}${running > 0 ? `, ${running} running` : ""}`}
            />
          </li>
        ))}
      </ul>
      <button type="button" className={styles.entry} onClick={() => openOverlay({ name: "add project" })}>
        <Icon name="plus" />
        <span>
          Add<span className={styles.rest}> a project</span>
        </span>
      </button>
      <span className={styles.space} />
      <Entry to="/settings/general" icon="gear" words="Settings" />
      <ConnectionLine />
    </nav>
  );
}

type Row = [id: string, name: string, running: number, asks: number];

function projectRows(world: World): Row[] {
  const index = indexOf(world);
  const counts = new Map<string, { running: number; asks: number }>();
  for (const attempt of world.attempts.values()) {
    const count = counts.get(attempt.project_id) ?? { running: 0, asks: 0 };
    if (attempt.state === "running" || attempt.state === "waiting") count.running += 1;
    count.asks += index.asksOf(attempt.id).length;
    counts.set(attempt.project_id, count);
  }
  return projectsByName(world).map((project): Row => {
    const { running = 0, asks = 0 } = counts.get(project.id) ?? {};
    return [project.id, project.name, running, asks];
  });
}

type EntryProps = {
  to: string;
  icon: IconName;
  words: string;
  count?: number;
  isAsk?: boolean;
  label?: string;
};

function Entry({ to, icon, words, count = 0, isAsk, label }: EntryProps) {
  const [place] = useLocation();
  const isHere = to === "/" ? place === "/" : place.startsWith(to.replace(/\/general$/, ""));
  return (
    <Link
      href={to}
      className={styles.entry}
      aria-current={isHere ? "page" : undefined}
      aria-label={label}
      title={words}
    >
      <Icon name={icon} />
      <span>{words}</span>
      {/* The number is drawn by the style sheet: the label says it in words. */}
      {count > 0 && (
        <b className={styles.count} data-ask={isAsk || undefined} data-count={count} aria-hidden="true" />
      )}
    </Link>
  );
}

function ConnectionLine() {
  const connection = useConnection();
  const words =
    connection.state === "online"
      ? "online"
      : connection.state === "connecting"
        ? "connecting"
        : `away since ${clock(connection.since)}`;
  return (
    <div className={styles.connection} role="status" aria-label="Connection" data-state={connection.state}>
      <span className={styles.dot} />
      <span>{words}</span>
    </div>
  );
}
