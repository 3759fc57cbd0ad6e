// What was deleted, and the way back for each.

import { useQuery } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { get, post } from "../api/client";
import type { RecoveredEntry, RemovedEntry } from "../api/types";
import { useWorld } from "../api/world";
import { useAway } from "../app/away";
import { say } from "../app/notices";
import { keyOf, queries } from "../app/queries";
import { useAct } from "../ui/act";
import { Button } from "../ui/Button";
import { Failed, Loading } from "../ui/Nothing";
import styles from "./Settings.module.css";
import { IGNORED_DAYS, type Trashed, trashOf } from "./trash";

const TRASH = keyOf.settings("trash");

export function Trash() {
  const { data, error, refetch } = useQuery({
    queryKey: TRASH,
    queryFn: ({ signal }) => get<RemovedEntry[]>("/removed", signal),
    // Something may have been deleted since.
    staleTime: 0,
  });
  if (error) return <Failed what="The trash is" error={error} again={() => void refetch()} />;
  if (!data) return <Loading what="the trash" />;
  const trash = trashOf(data);
  if (trash.length === 0) return <p>The trash is empty. What you delete stays here.</p>;
  return (
    <>
      <p>
        What was deleted stays here until you bring it back. Only files that git ignores, such as{" "}
        <code>.env</code>, are gone after {IGNORED_DAYS} days.
      </p>
      <ul className={styles.agents} aria-label="Trash">
        {trash.map((trashed) => (
          <Row key={trashed.entry.id} trashed={trashed} />
        ))}
      </ul>
    </>
  );
}

const PAGES: Record<string, string> = { project: "/p/", task: "/t/", attempt: "/a/" };

function Row({ trashed: { entry, ignoredUntil } }: { trashed: Trashed }) {
  const { id, kind, name, removed_at } = entry;
  const [, go] = useLocation();
  const away = useAway();
  const { busy, problem, run } = useAct();
  const project = useWorld((world) => entry.project_id && world.projects.get(entry.project_id)?.name);
  const bringBack = () =>
    run("Bringing back", async () => {
      const { notes } = await post<RecoveredEntry>(`/removed/${id}/recover`);
      say([`“${name}” is back.`, ...notes].join(" "), {
        action: { words: "Open", run: () => go(`${PAGES[kind] ?? "/t/"}${id}`) },
      });
      await queries.invalidateQueries({ queryKey: TRASH });
    });
  return (
    <li className={styles.agent} aria-label={name}>
      <b>{name}</b>
      <span>
        {[kind, kind !== "project" && project].filter(Boolean).join(" of ")}, deleted{" "}
        {new Date(removed_at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}
        {ignoredUntil &&
          `, ignored files until ${ignoredUntil.toLocaleDateString([], { dateStyle: "medium" })}`}
      </span>
      {problem && (
        <span role="alert" className={styles.problem}>
          {problem}
        </span>
      )}
      <Button
        size="small"
        label={busy ? undefined : `Bring back: ${name}`}
        busy={busy}
        disabled={away}
        onClick={() => void bringBack()}
      >
        Bring back
      </Button>
    </li>
  );
}
