// What Forge takes of the disk, by project, and freeing it: first what would go is shown, then it goes.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get, post, sentenceOf } from "../api/client";
import type { Cleaned, Disk as Usage } from "../api/types";
import { say } from "../app/notices";
import { keyOf, queries } from "../app/queries";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Dialog";
import { Failed, Loading } from "../ui/Nothing";
import { bytes, counted } from "../ui/numbers";
import styles from "./Settings.module.css";

const DISK = keyOf.settings("disk");

export function Disk() {
  const { data, error, refetch } = useQuery({
    queryKey: DISK,
    queryFn: ({ signal }) => get<Usage>("/disk", signal),
  });
  if (error) return <Failed what="The disk usage is" error={error} again={() => void refetch()} />;
  if (!data) return <Loading what="the disk usage" />;
  return (
    <>
      <Low usage={data} />
      <Table usage={data} />
      <CleanUp />
    </>
  );
}

function Low({ usage }: { usage: Usage }) {
  const free = Math.min(usage.free_bytes ?? Infinity, usage.worktrees_free_bytes ?? Infinity);
  if (free >= usage.floor_bytes) return null;
  return (
    <p role="alert" className={styles.problem}>
      Only {bytes(free)} left. New attempts wait until there is room.
    </p>
  );
}

function Table({ usage }: { usage: Usage }) {
  const least = usage.complete ? "" : "at least ";
  const rest = usage.trash_bytes + usage.images_bytes + usage.database_bytes;
  const total = usage.worktrees_bytes + usage.runs_bytes + rest;
  return (
    <div className={styles.wide}>
      <table className={styles.table}>
        <caption>
          {least}
          {bytes(total)} taken
          {usage.free_bytes !== null && `, ${bytes(usage.free_bytes)} free`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Project</th>
            <th scope="col">Attempts</th>
            <th scope="col">Worktrees</th>
            <th scope="col">Logs</th>
          </tr>
        </thead>
        <tbody>
          {usage.projects.map((project) => (
            <tr key={project.project_id}>
              <th scope="row">{project.name}</th>
              <td>{project.attempts.length}</td>
              <td>{bytes(project.worktrees_bytes)}</td>
              <td>{bytes(project.runs_bytes)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Trash, pictures, database</th>
            <td />
            <td>{bytes(rest)}</td>
            <td />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function CleanUp() {
  const [would, setWould] = useState<Cleaned | null>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isAsking, setAsking] = useState(false);
  const collect = async (isDry: boolean) => {
    setBusy(isDry ? "Looking" : "Freeing");
    setProblem(null);
    try {
      const cleaned = await post<Cleaned>("/gc", { dry_run: isDry });
      if (isDry) setWould(cleaned);
      else {
        setWould(null);
        setAsking(false);
        say(`Freed ${bytes(sizeOf(cleaned))}`);
        void queries.invalidateQueries({ queryKey: DISK });
      }
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    setBusy(null);
  };
  const free = would ? `Free ${bytes(sizeOf(would))}` : "";
  return (
    <>
      <h2>Clean up</h2>
      <p>
        Worktrees that have had their time go to the trash by themselves, and logs of closed attempts are
        deleted. Nothing unmerged is touched.
      </p>
      <div className={styles.line}>
        <Button busy={busy === "Looking" && busy} onClick={() => void collect(true)}>
          Show what would go
        </Button>
        {would && would.swept.length > 0 && (
          <Button kind="primary" onClick={() => setAsking(true)}>
            {free}
          </Button>
        )}
        {problem && !isAsking && (
          <span role="alert" className={styles.problem}>
            {problem}
          </span>
        )}
      </div>
      {would && <WouldGo cleaned={would} />}
      {isAsking && would && (
        <Confirm
          title={`${free}?`}
          verb={free}
          isDestructive
          busy={busy === "Freeing" && busy}
          problem={problem}
          onConfirm={() => void collect(false)}
          onClose={() => setAsking(false)}
        >
          {counted(would.swept.length, "thing")} of the list go. Branches and snapshots stay.
        </Confirm>
      )}
    </>
  );
}

const sizeOf = ({ swept }: Cleaned) => swept.reduce((sum, it) => sum + (it.bytes ?? 0), 0);

function WouldGo({ cleaned: { swept, left } }: { cleaned: Cleaned }) {
  return (
    <section aria-label="What would go">
      {swept.length === 0 && <p role="status">Nothing would go.</p>}
      <ul className={styles.paths}>
        {swept.map((it) => (
          <li key={it.path}>
            <code>{it.path}</code>
            <small>
              {it.what}, {it.reason}
              {it.bytes !== null && `, ${bytes(it.bytes)}`}
            </small>
          </li>
        ))}
      </ul>
      {left.length > 0 && (
        <details>
          <summary>{counted(left.length, "thing")} stay</summary>
          <ul className={styles.paths}>
            {left.map((it) => (
              <li key={it.path}>
                <code>{it.path}</code>
                <small>{it.why}</small>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
