// The conversation with everything that belongs to it: its entries, the requests in it, and the composer below it.

import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Approval, TaskAttempt } from "../api/types";
import { sameList, useWorld } from "../api/world";
import { copy } from "../app/copy";
import { useActions } from "../app/keys";
import { agentWord } from "../facts/agents";
import { indexOf } from "../facts/index-of";
import { useAct } from "../ui/act";
import { useAnswer } from "../ui/answer";
import { begunOf } from "../ui/begun";
import { Confirm } from "../ui/Dialog";
import { Failed } from "../ui/Nothing";
import { cameToAnswer, focusQuestion } from "../ui/Questions";
import styles from "./Chat.module.css";
import { Composer, type ComposerHandle } from "./composer/Composer";
import { isWorking } from "./composer/words";
import { Conversation, type ConversationHandle } from "./conversation/Conversation";
import { type Rows, rowsOf } from "./conversation/rows";
import type { TurnActs } from "./conversation/Turn";
import { Transcript, type Window } from "./conversation/transcript";
import { TurnsHere, useRuns, useTurns } from "./conversation/turns";
import { AllowAll } from "./requests/AllowAll";
import { type Waiting, WaitingHere } from "./requests/Request";
import { RequestBar } from "./requests/RequestBar";
import { alike } from "./requests/rules";
import { restore } from "./snapshots/restore";

type Props = {
  attempt: TaskAttempt;
  transcript: Transcript;
  entry: string | null;
  onChanges: (from: string, to: string | null) => void;
};

/** Within so many milliseconds a question that is asked for is drawn. */
const COMES = 3000;

export function Chat({ attempt, transcript, entry, onChanges }: Props) {
  const { id } = attempt;
  const shown = useSyncExternalStore(transcript.watch, transcript.now);
  const turns = useTurns(id);
  const runs = useRuns(id);
  const rows = useNumbered(attempt, shown);
  const conversation = useRef<ConversationHandle>(null);
  const composer = useRef<ComposerHandle>(null);

  const asks = useWorld((world) => indexOf(world).asksOf(id), sameList);
  const first = asks[0] ?? null;
  const answering = useAnswer(first);
  const agent = agentWord(attempt.executor);
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const notice = useCallback(
    (ask: string, isSeen: boolean) =>
      setSeen((before) => {
        if (before.has(ask) === isSeen) return before;
        const next = new Set(before);
        if (isSeen) next.add(ask);
        else next.delete(ask);
        return next;
      }),
    [],
  );
  const [held, setHeld] = useState<string | null>(null);
  const several = alike(asks);
  const [allowed, setAllowed] = useState<readonly Approval[] | null>(null);
  const waiting: Waiting = {
    first: first && { ask: first, answering },
    agent,
    seen: notice,
    reply: (text) => composer.current?.write(text),
    below: held,
    all: several.length > 0 ? { count: several.length, show: () => setAllowed(several) } : null,
  };
  const keyOfAsk = useMemo(() => {
    const keys = new Map<string, string>();
    for (const { key, entry } of shown.entries) {
      const type = entry.entry_type;
      if (type.type === "tool_use" && type.status.status === "pending_approval")
        keys.set(type.status.approval_id, key);
    }
    return (ask: string) => keys.get(ask);
  }, [shown.entries]);

  // A key answers only what can be seen; otherwise it shows it.
  const byKey = (approved: boolean, scope?: "session") => () => {
    if (!first) return;
    const key = keyOfAsk(first.approval_id);
    if (key && !seen.has(first.approval_id)) conversation.current?.show(key);
    else {
      const why = begunOf<string>(first.approval_id, "why")?.trim();
      answering.answer(approved, scope ? { scope } : !approved && why ? { reason: why } : {});
    }
  };
  const isPermission = first?.kind === "permission";
  const question = first?.kind === "question" ? first : null;
  /** Into the open question; until it is drawn, into the box below, from which it can be answered as well. */
  const reply = () => {
    if (!question) return composer.current?.focus();
    const id = question.approval_id;
    if (focusQuestion(id)) return;
    composer.current?.focus();
    const key = keyOfAsk(id);
    if (key) conversation.current?.show(key);
    const until = performance.now() + COMES;
    const look = () => {
      // Whoever has begun to write stays where they are.
      if (!composer.current?.isUntouched() || performance.now() > until) return;
      if (!focusQuestion(id)) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  };
  const replying = useRef(reply);
  replying.current = reply;
  const asksFor = question?.approval_id;
  useEffect(() => {
    if (asksFor && cameToAnswer(asksFor)) replying.current();
  }, [asksFor]);
  useActions("attempt", {
    allow: isPermission ? byKey(true) : undefined,
    deny: isPermission ? byKey(false) : undefined,
    allowAlways: isPermission ? byKey(true, "session") : undefined,
    allowAll: waiting.all?.show,
  });

  const [asked, setAsked] = useState<{ snapshot: string; words: string } | null>(null);
  const restoring = useAct();
  const changes = useRef(onChanges);
  changes.current = onChanges;
  const acts = useMemo<TurnActs>(
    () => ({
      restore: (snapshot, words) => setAsked({ snapshot, words }),
      showChanges: (from, to) => changes.current(from, to),
      copyLink: (key) => void copy(`${location.origin}/a/${id}?entry=${encodeURIComponent(key)}`, "The link"),
    }),
    [id],
  );

  return (
    <WaitingHere value={waiting}>
      <TurnsHere value={turns}>
        <section className={styles.chat} id="conversation" aria-label="Chat" tabIndex={-1}>
          <Conversation
            attempt={attempt}
            transcript={transcript}
            rows={rows}
            acts={acts}
            entry={entry}
            hasAsk={asks.length > 0}
            isRunning={isWorking(attempt.state)}
            handle={conversation}
          />
          {/* What a new run says is heard only by who knows of the run. */}
          {runs.error && !runs.data && (
            <Failed isLine what="What comes next is" error={runs.error} again={() => void runs.refetch()} />
          )}
          <RequestBar
            asks={asks}
            keyOf={keyOfAsk}
            held={held}
            onHold={setHeld}
            seen={seen}
            onShow={(key) => conversation.current?.show(key)}
          />
          <Composer
            ref={composer}
            attempt={attempt}
            question={question}
            onReply={reply}
            todos={rows.todos}
            onSent={() => conversation.current?.follow()}
          />
        </section>
      </TurnsHere>
      {allowed && <AllowAll asks={allowed} onClose={() => setAllowed(null)} />}
      {asked && (
        <Confirm
          title={`Put the files back to ${asked.words}?`}
          verb="Put the files back"
          busy={restoring.busy ?? false}
          problem={restoring.problem}
          onClose={() => {
            restoring.clear();
            setAsked(null);
          }}
          onConfirm={() =>
            void restoring
              .run("Putting back", () => restore(id, asked.snapshot))
              .then((isDone) => isDone && setAsked(null))
          }
        >
          Later work stays as a snapshot.
        </Confirm>
      )}
    </WaitingHere>
  );
}

/** What is drawn of the window. Turns that were in it once keep their numbers, wherever it is moved. */
function useNumbered({ turns, state }: TaskAttempt, { entries, hasOlder, hasNewer }: Window): Rows {
  const known = useRef(new Map<string, number>()).current;
  const rows = useMemo(
    () => rowsOf(entries, { hasOlder, hasNewer, turns, known }),
    [entries, hasOlder, hasNewer, turns, known],
  );
  useEffect(() => {
    // Counted from the end while something is told, they may be off by one for a moment.
    if (hasOlder && isWorking(state)) return;
    for (const row of rows.rows)
      if (row.kind === "turn" && row.number !== null) known.set(row.key, row.number);
  }, [rows, hasOlder, state, known]);
  return rows;
}

/** The window on the attempt's entries, open as long as the page is. */
export function useTranscript(attempt: string, entry: string | null): Transcript {
  const [transcript, setTranscript] = useState(() => new Transcript(attempt));
  const { data: runs } = useRuns(attempt);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the entry of the address is only where it begins
  useEffect(() => {
    const made = new Transcript(attempt);
    setTranscript(made);
    void made.open(entry ?? undefined);
    return () => made.close();
  }, [attempt]);
  const isKnown = useSyncExternalStore(transcript.watch, () => transcript.now().isKnown);
  useEffect(() => {
    if (runs && isKnown) transcript.follow(runs);
  }, [transcript, runs, isKnown]);
  return transcript;
}
