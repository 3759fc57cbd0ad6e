// The page of a task that nobody is at yet; one with an attempt leads to the newest of them.

import { useQuery } from "@tanstack/react-query";
import { Link, Redirect, useLocation } from "wouter";
import { get } from "../api/client";
import type { ImageResponse } from "../api/types";
import { begin, useWorld } from "../api/world";
import { useActing } from "../app/acting";
import { useAway } from "../app/away";
import { useActions } from "../app/keys";
import { openOverlay } from "../app/overlays";
import { keyOf } from "../app/queries";
import { deleteTask, startTask } from "../app/task-acts";
import { indexOf } from "../facts/index-of";
import { columnWords, isColumn } from "../facts/state";
import { Button } from "../ui/Button";
import { Head } from "../ui/Head";
import { Markdown } from "../ui/Markdown";
import { NotHere } from "../ui/NotHere";
import { Failed, Loading } from "../ui/Nothing";
import { Ago } from "../ui/time";
import styles from "./Task.module.css";

export function TaskPage({ id }: { id: string }) {
  const isKnown = useWorld((world) => world.isKnown);
  const problem = useWorld((world) => world.problem);
  const isThere = useWorld((world) => world.tasks.has(id));
  const newest = useWorld((world) => indexOf(world).attemptsOf(id)[0]?.id);
  if (newest) return <Redirect to={`/a/${newest}`} replace />;
  if (!isKnown && problem) return <Failed what="The task is" error={problem} again={() => void begin()} />;
  if (!isKnown) return <Loading what="the task" />;
  if (!isThere) return <NotHere />;
  return <Wish id={id} />;
}

function Wish({ id }: { id: string }) {
  const [, go] = useLocation();
  const task = useWorld((world) => world.tasks.get(id));
  const project = useWorld((world) => world.projects.get(task?.project_id ?? ""));
  const acting = useActing(id);
  const away = useAway();
  const edit = () => task && openOverlay({ name: "new task", project: task.project_id, task: id });
  const images = useQuery({
    queryKey: keyOf.project(task?.project_id ?? "", "images", id),
    queryFn: ({ signal }) => get<ImageResponse[]>(`/images/task/${id}`, signal),
  });
  useActions("board", { startTask: () => startTask(id), editTask: edit });
  if (!task) return null;
  return (
    <>
      <Head title={task.title}>
        <span className={styles.space} />
        <Button disabled={away} onClick={edit}>
          Edit
        </Button>
        <Button onClick={() => openOverlay({ name: "start", task: id })} disabled={away}>
          Start with…
        </Button>
        <Button kind="primary" hint="s" busy={acting.busy} disabled={away} onClick={() => startTask(id)}>
          Start
        </Button>
      </Head>
      <div className={styles.page}>
        <p className={styles.about}>
          {project && <Link href={`/p/${project.id}`}>{project.name}</Link>}{" "}
          {isColumn(task.status) ? columnWords(task.status) : null}, <Ago since={task.created_at} />
        </p>
        {acting.problem && (
          <p role="alert" className={styles.problem}>
            {acting.problem}
          </p>
        )}
        {task.description ? (
          <Markdown text={task.description} />
        ) : (
          <p className={styles.about}>No description.</p>
        )}
        {images.error && !images.data && (
          <Failed isLine what="Pictures are" error={images.error} again={() => void images.refetch()} />
        )}
        {images.data && images.data.length > 0 && (
          <div className={styles.images}>
            {images.data.map(({ id, original_name }) => (
              <img key={id} className={styles.picture} src={`/api/images/${id}/file`} alt={original_name} />
            ))}
          </div>
        )}
        <p>
          <Button
            kind="danger"
            size="small"
            disabled={away}
            onClick={async () => {
              if (await deleteTask(id)) go(`/p/${task.project_id}`);
            }}
          >
            Delete
          </Button>
        </p>
      </div>
    </>
  );
}
