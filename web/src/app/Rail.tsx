// The rail: where to go, how many things wait there, and whether the server is there.

import { Link, useLocation } from "wouter";
import { useConnection } from "../api/live";
import { sameList, useWorld, type World } from "../api/world";
import { clock } from "../facts/clock";
import { inboxOf } from "../facts/inbox";
import { indexOf } from "../facts/index-of";
import { projectsByName } from "../facts/projects";
import { Icon, type IconName } from "../ui/Icon";
import { shown } from "./keys";
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
      <Act
        icon="search"
        words="Search"
        title={`Search and commands (${shown("Mod+k")})`}
        run={() => openOverlay({ name: "palette" })}
      />
      <Entry to="/" icon="board" words="All" rest=" projects" />
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
        {/* On a phone it scrolls with them, so that two fit. */}
        <li>
          <Act
            icon="plus"
            words="Add"
            rest=" a project"
            title="Add a project"
            run={() => openOverlay({ name: "add project" })}
          />
        </li>
      </ul>
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
  /** The words that a phone has no room for. */
  rest?: string;
  count?: number;
  isAsk?: boolean;
  label?: string;
};

function Entry({ to, icon, words, rest, count = 0, isAsk, label }: EntryProps) {
  const [place] = useLocation();
  const isHere = to === "/" ? place === "/" : place.startsWith(to.replace(/\/general$/, ""));
  return (
    <Link
      href={to}
      className={styles.entry}
      aria-current={isHere ? "page" : undefined}
      aria-label={label}
      title={words + (rest ?? "")}
    >
      <Icon name={icon} />
      <Words words={words} rest={rest} />
      {/* The number is drawn by the style sheet: the label says it in words. */}
      {count > 0 && (
        <b className={styles.count} data-ask={isAsk || undefined} data-count={count} aria-hidden="true" />
      )}
    </Link>
  );
}

type ActProps = Pick<EntryProps, "icon" | "words" | "rest"> & { title: string; run: () => void };

/** An entry that does something instead of leading somewhere. */
function Act({ icon, words, rest, title, run }: ActProps) {
  return (
    <button type="button" className={styles.entry} title={title} onClick={run}>
      <Icon name={icon} />
      <Words words={words} rest={rest} />
    </button>
  );
}

function Words({ words, rest }: Pick<EntryProps, "words" | "rest">) {
  return (
    <span>
      {words}
      {rest && <span className={styles.rest}>{rest}</span>}
    </span>
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
