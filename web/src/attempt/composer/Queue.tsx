// What waits for the turn's end, in its order: to be changed, moved, taken back or sent now.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { QueuedFollowUp, TaskAttempt } from "../../api/types";
import { world } from "../../api/world";
import { say, sayError } from "../../app/notices";
import { keyOf, queries } from "../../app/queries";
import { canSteer } from "../../facts/agents";
import { useAct } from "../../ui/act";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import type { Drafting } from "./draft";
import styles from "./Queue.module.css";
import { changeQueued, goOn, messageOf, putBack, readQueue, sendNow, withdraw } from "./send";
import { isWorking } from "./words";

export const useQueue = (attempt: string) =>
  useQuery({
    queryKey: keyOf.attempt(attempt, "queue"),
    queryFn: ({ signal }) => readQueue(attempt, signal),
  });

const learn = (attempt: string, list: QueuedFollowUp[]) =>
  queries.setQueryData(keyOf.attempt(attempt, "queue"), list);

const isResting = ({ state }: TaskAttempt) => !isWorking(state) && state !== "limited";

type Props = {
  attempt: TaskAttempt;
  queue: readonly QueuedFollowUp[];
  draft: Drafting;
  /** The one that is being edited. */
  editing: string | null;
  onEdit: (id: string | null) => void;
};

export function Queue({ attempt, queue, draft, editing, onEdit }: Props) {
  const act = useAct();
  const [dragged, setDragged] = useState<string | null>(null);
  const { id } = attempt;
  // What is being sent stays before all that waits.
  const first = queue.find(({ state }) => state !== "sending");
  const last = queue.at(-1);
  const problem = act.problem && (
    <p role="alert" className={styles.problem}>
      {act.problem}
    </p>
  );
  if (!last) return problem;
  const move = (item: string, position: number) =>
    act.run("Moving", async () => learn(id, await changeQueued(id, item, { position })));
  const takeBack = (item: QueuedFollowUp) =>
    act.run("Removing", async () => {
      learn(id, await withdraw(id, item.id));
      say("Taken out of the queue.", { undo: () => void undo(item).catch(sayError) });
    });
  const undo = async (item: QueuedFollowUp) => {
    const now = world().attempts.get(id) ?? attempt;
    // Whatever is put into a queue that stands still makes it go on.
    if (isResting(now)) draft.giveBack(messageOf(item));
    else learn(id, await draft.lend(messageOf(item), () => putBack(id, item)));
  };
  const sendOne = (item: QueuedFollowUp) =>
    act.run("Sending", () => draft.lend(messageOf(item), () => sendNow(id, item)));
  const sendAll = (last: QueuedFollowUp) =>
    act.run("Sending", () => draft.lend(messageOf(last), () => goOn(id, queue)));
  return (
    <div className={styles.queue}>
      {isResting(attempt) && (
        <p className={styles.paused}>
          {attempt.state === "failed"
            ? "The queue is paused because the last turn failed."
            : "The queue is paused."}{" "}
          <Button size="small" busy={act.busy} onClick={() => void sendAll(last)}>
            Send anyway
          </Button>
          <Button
            size="small"
            kind="quiet"
            onClick={() =>
              act.run("Clearing", async () => {
                for (const item of queue) learn(id, await withdraw(id, item.id));
              })
            }
          >
            Clear
          </Button>
        </p>
      )}
      <ul aria-label="Queued messages">
        {queue.map((item, index) => (
          <li
            key={item.id}
            className={styles.item}
            draggable={editing === null}
            data-dragged={dragged === item.id || undefined}
            onDragStart={() => setDragged(item.id)}
            onDragEnd={() => setDragged(null)}
            onDragOver={(event) => dragged && event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault();
              if (dragged && dragged !== item.id) void move(dragged, index);
              setDragged(null);
            }}
          >
            {editing === item.id ? (
              <EditQueued attempt={id} item={item} onClose={() => onEdit(null)} />
            ) : (
              <>
                <Icon name="menu" size={12} className={styles.handle} />
                <span className={styles.text}>{item.prompt}</span>
                {item.state === "sending" ? (
                  <span>sending</span>
                ) : (
                  <>
                    {queue.length === 1 && isWorking(attempt.state) && canSteer(attempt.executor) && (
                      <Button size="small" busy={act.busy} onClick={() => void sendOne(item)}>
                        Send now
                      </Button>
                    )}
                    {queue.length > 1 && (
                      <>
                        <Button
                          className={styles.up}
                          size="small"
                          kind="quiet"
                          icon="down"
                          label={`Move up: ${short(item.prompt)}`}
                          disabled={item === first && "It is the first already."}
                          onClick={() => void move(item.id, index - 1)}
                        />
                        <Button
                          size="small"
                          kind="quiet"
                          icon="down"
                          label={`Move down: ${short(item.prompt)}`}
                          disabled={item === last && "It is the last already."}
                          onClick={() => void move(item.id, index + 1)}
                        />
                      </>
                    )}
                    <Button
                      size="small"
                      kind="quiet"
                      icon="edit"
                      label={`Edit: ${short(item.prompt)}`}
                      onClick={() => onEdit(item.id)}
                    />
                    <Button
                      size="small"
                      kind="quiet"
                      icon="close"
                      label={`Remove: ${short(item.prompt)}`}
                      onClick={() => void takeBack(item)}
                    />
                  </>
                )}
              </>
            )}
          </li>
        ))}
      </ul>
      {problem}
    </div>
  );
}

function EditQueued({
  attempt,
  item,
  onClose,
}: {
  attempt: string;
  item: QueuedFollowUp;
  onClose: () => void;
}) {
  const [text, setText] = useState(item.prompt);
  const act = useAct();
  const save = async () => {
    const isDone = await act.run("Saving", async () =>
      learn(attempt, await changeQueued(attempt, item.id, { prompt: text })),
    );
    if (isDone) onClose();
  };
  return (
    <form
      className={styles.edit}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        aria-label="Queued message"
        value={text}
        autoFocus
        rows={Math.min(8, text.split("\n").length)}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.stopPropagation();
            onClose();
          } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            void save();
          }
        }}
      />
      <Button size="small" submit kind="primary" busy={act.busy}>
        Save
      </Button>
      <Button size="small" kind="quiet" onClick={onClose}>
        Cancel
      </Button>
      {act.problem && (
        <p role="alert" className={styles.problem}>
          {act.problem}
        </p>
      )}
    </form>
  );
}

const short = (text: string) => {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length > 40 ? `${line.slice(0, 40)}…` : line;
};
