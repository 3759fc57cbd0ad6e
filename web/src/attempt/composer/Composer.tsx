// Where the person answers: the box, its pictures, the profile of the next turn, and buttons that say what will happen.

import {
  type ClipboardEvent,
  type KeyboardEvent,
  type Ref,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from "react";
import { post } from "../../api/client";
import type { Approval, TaskAttempt, Todo } from "../../api/types";
import { useAway } from "../../app/away";
import { useInfo } from "../../app/info";
import { shown, useActions } from "../../app/keys";
import { say } from "../../app/notices";
import { usePreferences } from "../../app/preferences";
import { agentWord, canSteer, profileInFull } from "../../facts/agents";
import { questionsOf } from "../../facts/asks";
import { useAct } from "../../ui/act";
import { GUARD } from "../../ui/answer";
import { Button } from "../../ui/Button";
import { MentionArea } from "../../ui/MentionArea";
import { Failed } from "../../ui/Nothing";
import { useRuns } from "../conversation/turns";
import styles from "./Composer.module.css";
import { useDraft } from "./draft";
import { useUploads } from "./images";
import { Queue, useQueue } from "./Queue";
import { queue as putInQueue, tell } from "./send";
import { Todos } from "./Todos";
import { isWorking, keyMeans, placeholder, promptOf, sendWord } from "./words";

export type ComposerHandle = {
  focus(): void;
  write(text: string): void;
  /** It has the focus, and nothing was written. */
  isUntouched(): boolean;
};

type Props = {
  attempt: TaskAttempt;
  todos: readonly Todo[];
  /** The open question that the agent waits for. */
  question: Approval | null;
  /** Puts the caret where an answer belongs. */
  onReply: () => void;
  /** Called when something was sent, so that the conversation follows again. */
  onSent: () => void;
  ref?: Ref<ComposerHandle>;
};

export function Composer({ attempt, todos, question, onReply, onSent, ref }: Props) {
  const { id, state, executor } = attempt;
  const draft = useDraft(id);
  const queue = useQueue(id);
  const waiting = queue.data ?? [];
  const { data: runs } = useRuns(id);
  const { data: info } = useInfo();
  const { sendWith } = usePreferences();
  const agent = agentWord(executor);
  const away = useAway();
  const [variant, setVariant] = useState<string | null>(null);
  const [editing, setEditing] = useState<string | null>(null);
  const sending = useAct();
  const stopping = useAct();
  const uploads = useUploads((image) => {
    // The same picture twice is one.
    const others = imagesNow.current.filter(({ id }) => id !== image.id);
    draft.attach([...others, image]);
  });
  const imagesNow = useRef(draft.images);
  imagesNow.current = draft.images;
  const box = useRef<HTMLTextAreaElement>(null);
  const files = useRef<HTMLInputElement>(null);
  useImperativeHandle(ref, () => ({
    focus: () => box.current?.focus(),
    write: (text) => {
      draft.write(text);
      box.current?.focus();
    },
    isUntouched: () => document.activeElement === box.current && box.current?.value === "",
  }));

  const isAtWork = isWorking(state);
  const run = runs?.findLast((run) => run.run_reason === "codingagent" && run.status === "running");
  const maySteer = isAtWork && canSteer(executor) && queue.data?.length === 0 && run !== undefined;
  const isEmpty = draft.text.trim() === "" && draft.images.length === 0;
  const word = sendWord(state);

  const send = async (isNow: boolean) => {
    if (isEmpty || uploads.pending.some((it) => !it.problem)) return;
    const { text, images } = draft;
    const message = { prompt: promptOf(text, images), variant, image_ids: images.map(({ id }) => id) };
    const isDone = await sending.run(word === "Queue" && !isNow ? "Queueing" : "Sending", async () => {
      if (word === "Queue" && !isNow) return putInQueue(id, message, waiting.length);
      const { delivered } = await tell(id, message);
      if (isNow && delivered === "queued") say(`${agent} hears it when this turn ends.`);
    });
    if (!isDone) return;
    draft.sent({ text, images });
    setVariant(null);
    onSent();
    box.current?.focus();
  };
  // A question with several parts is answered in its form.
  const answers = question !== null && questionsOf(question).length === 1 && draft.images.length === 0;
  const asked = useRef({ id: question?.approval_id, at: performance.now() });
  useEffect(() => {
    asked.current = { id: question?.approval_id, at: performance.now() };
  }, [question?.approval_id]);
  const answer = async () => {
    // What was written for the queue is no answer to a question that came up in this moment.
    if (isEmpty || !question || performance.now() - asked.current.at < GUARD) return;
    const { text, images } = draft;
    const respond = () =>
      post(`/approvals/${question.approval_id}/respond`, { approved: true, text: text.trim() });
    if (!(await sending.run("Answering", respond))) return;
    draft.sent({ text, images });
    onSent();
    box.current?.focus();
  };
  const stop = () => stopping.run("Stopping", () => post(`/task-attempts/${id}/stop`));
  const interrupt = () =>
    run && stopping.run("Interrupting", () => post(`/execution-processes/${run.id}/stop`));

  useActions("attempt", {
    reply: onReply,
    stop: isAtWork ? () => void stop() : undefined,
    interrupt: run ? () => void interrupt() : undefined,
  });

  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      event.currentTarget.blur();
    } else if (event.key === "ArrowUp" && isEmpty && waiting.length > 0) {
      event.preventDefault();
      setEditing(waiting.at(-1)?.id ?? null);
    } else {
      const pressed = { key: event.key, shiftKey: event.shiftKey, isMod: event.ctrlKey || event.metaKey };
      const means = keyMeans(pressed, sendWith, matchMedia("(pointer: coarse)").matches);
      if (!means) return;
      event.preventDefault();
      void (answers ? answer() : send(means === "send now" && maySteer));
    }
  };
  const paste = (event: ClipboardEvent) => {
    const pictures = [...event.clipboardData.files].filter((file) => file.type.startsWith("image/"));
    if (pictures.length === 0) return;
    event.preventDefault();
    uploads.add(pictures);
  };

  // Another attempt, another choice.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the attempt that changes
  useEffect(() => setVariant(null), [id]);
  const variants = Object.keys((info?.executors[executor] as object | undefined) ?? {});
  const current = attempt.executor_profile_id.variant ?? null;

  return (
    <section
      className={styles.composer}
      aria-label="Composer"
      onDragOver={(event) => event.dataTransfer.types.includes("Files") && event.preventDefault()}
      onDrop={(event) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        uploads.add(event.dataTransfer.files);
      }}
    >
      <Todos todos={todos} />
      {queue.error && !queue.data && (
        <Failed isLine what="Queued messages are" error={queue.error} again={() => void queue.refetch()} />
      )}
      <Queue attempt={attempt} queue={waiting} draft={draft} editing={editing} onEdit={setEditing} />
      {(draft.images.length > 0 || uploads.pending.length > 0) && (
        <ul className={styles.images} aria-label="Pictures">
          {draft.images.map((image) => (
            <li key={image.id}>
              <img src={`/api/images/${image.id}/file`} alt={image.name} />
              <Button
                size="small"
                kind="quiet"
                icon="close"
                label={`Remove ${image.name}`}
                onClick={() => draft.attach(draft.images.filter((it) => it.id !== image.id))}
              />
            </li>
          ))}
          {uploads.pending.map(({ number, name, problem }) => (
            <li key={number} role={problem ? "alert" : "status"} data-failed={problem !== null || undefined}>
              {problem ?? `Uploading ${name}…`}
              {problem && (
                <Button
                  size="small"
                  kind="quiet"
                  icon="close"
                  label={`Dismiss ${name}`}
                  onClick={() => uploads.drop(number)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      <MentionArea
        ref={box}
        project={attempt.project_id}
        className={styles.box}
        aria-label="Reply"
        placeholder={placeholder(state, agent, answers)}
        rows={1}
        value={draft.text}
        onChange={draft.write}
        onKeyDown={press}
        onPaste={paste}
      />
      <div className={styles.row}>
        <Button
          size="small"
          kind="quiet"
          icon="image"
          label="Add a picture"
          onClick={() => files.current?.click()}
        />
        <input
          ref={files}
          type="file"
          accept="image/*"
          multiple
          hidden
          onChange={(event) => {
            uploads.add(event.target.files ?? []);
            event.target.value = "";
          }}
        />
        <select
          className={styles.profile}
          aria-label="Profile"
          value={variant ?? current ?? "GENIE"}
          onChange={(event) => setVariant(event.target.value)}
        >
          {[...new Set([current ?? "GENIE", ...variants])].map((name) => (
            <option key={name} value={name}>
              {profileInFull({ executor, variant: name })}
            </option>
          ))}
        </select>
        {variant !== null && variant !== (current ?? "GENIE") && (
          <span className={styles.note}>{profileInFull({ executor, variant })} from the next message</span>
        )}
        {draft.isKeptHere && <span className={styles.note}>Draft kept in this browser</span>}
        <span className={styles.acts}>
          {run && (
            <Button
              size="small"
              busy={stopping.busy === "Interrupting" && stopping.busy}
              hint="i"
              onClick={() => void interrupt()}
            >
              Interrupt
            </Button>
          )}
          {isAtWork && (
            <Button
              size="small"
              kind="danger"
              busy={stopping.busy === "Stopping" && stopping.busy}
              hint={shown("Shift+i")}
              onClick={() => void stop()}
            >
              Stop
            </Button>
          )}
          {maySteer && (
            <Button
              size="small"
              disabled={away ?? (isEmpty && "Write something first.")}
              onClick={() => void send(true)}
            >
              Send now
            </Button>
          )}
          <Button
            size="small"
            kind={answers ? "plain" : "primary"}
            icon="send"
            busy={sending.busy !== "Answering" && sending.busy}
            disabled={away ?? (isEmpty && "Write something first.")}
            onClick={() => void send(false)}
          >
            {word}
          </Button>
          {answers && (
            <Button
              size="small"
              kind="ask"
              busy={sending.busy === "Answering" && sending.busy}
              disabled={away ?? (isEmpty && "Write something first.")}
              onClick={() => void answer()}
            >
              Send as answer
            </Button>
          )}
        </span>
      </div>
      {(sending.problem || stopping.problem) && (
        <p role="alert" className={styles.problem}>
          {sending.problem ? `Not sent: ${sending.problem}` : `Not stopped: ${stopping.problem}`}
        </p>
      )}
    </section>
  );
}
