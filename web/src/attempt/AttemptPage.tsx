// The page of an attempt: its neighbours, its conversation, and beside it what it changed and ran; below it, landing.

import { Suspense, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useLocation } from "wouter";
import { post } from "../api/client";
import type { TaskAttempt } from "../api/types";
import { begin, useWorld, world } from "../api/world";
import { useActions } from "../app/keys";
import { openOverlay } from "../app/overlays";
import { LandingStrip } from "../app/parts";
import { prefer, preferences, usePreferences } from "../app/preferences";
import { beginVisit } from "../app/visit";
import { Boundary } from "../ui/Boundary";
import { NotHere } from "../ui/NotHere";
import { Failed, Loading } from "../ui/Nothing";
import { AttemptHead } from "./AttemptHead";
import styles from "./AttemptPage.module.css";
import { Chat, useTranscript } from "./Chat";
import type { Transcript } from "./conversation/transcript";
import { useRuns } from "./conversation/turns";
import { Neighbours } from "./Neighbours";
import { neighboursOf, nextTo } from "./neighbours";
import { PhoneTabs } from "./PhoneTabs";
import { PaneContent, RightPane } from "./RightPane";
import { Splitter } from "./Splitter";
import { type Tab, useTab } from "./tabs";

export function AttemptPage({ id }: { id: string }) {
  const attempt = useWorld((world) => world.attempts.get(id));
  const isKnown = useWorld((world) => world.isKnown);
  const problem = useWorld((world) => world.problem);
  // Asked for at once, not only when everything else is known.
  const transcript = useTranscript(id, useTab().entry);
  if (attempt) return <Attempt attempt={attempt} transcript={transcript} />;
  if (!isKnown && problem) return <Failed what="The attempt is" error={problem} again={() => void begin()} />;
  if (!isKnown) return <Loading what="the attempt" />;
  return <NotHere />;
}

function Attempt({ attempt, transcript }: { attempt: TaskAttempt; transcript: Transcript }) {
  const { id } = attempt;
  const [, go] = useLocation();
  const { tab, phone, entry, between, show } = useTab();
  const { paneFolded, paneWidth } = usePreferences();
  const { data: runs } = useRuns(id);
  const isPhone = useIsPhone();
  useState(() => beginVisit(id, attempt.seen_at));
  useSeen(attempt);

  const showBetween = (between: { from: string; to: string | null } | null) =>
    show("snapshots", between ?? { from: null, to: null });
  const pane = (name: Tab) => () => {
    if (paneFolded) prefer({ paneFolded: false });
    show(name);
    requestAnimationFrame(() => document.getElementById("right-pane")?.focus());
  };
  const step = (by: 1 | -1) => () => {
    const next = nextTo(neighboursOf(world(), attempt.project_id), attempt.task_id, by);
    if (next && next !== id) go(`/a/${next}`);
  };
  useActions("everywhere", { previousAttempt: step(-1), nextAttempt: step(1) });
  useActions("attempt", {
    paneConversation: () => {
      if (isPhone) show("chat");
      document.getElementById("conversation")?.querySelector<HTMLElement>("[role=log]")?.focus();
    },
    paneNeighbours: isPhone ? undefined : () => document.querySelector<HTMLElement>("#neighbours a")?.focus(),
    paneChanges: pane("changes"),
    paneRuns: pane("runs"),
    panePreview: pane("preview"),
    togglePane: isPhone ? undefined : () => prefer({ paneFolded: !preferences().paneFolded }),
    anotherAttempt: attempt.task_id
      ? () => openOverlay({ name: "start", task: attempt.task_id as string })
      : undefined,
    compare: attempt.task_id ? () => go(`/t/${attempt.task_id}/compare`) : undefined,
  });

  const landing = (
    <Boundary what="What lands the changes">
      <Suspense>
        <LandingStrip attempt={id} />
      </Suspense>
    </Boundary>
  );
  const chat = (
    <Boundary what="The conversation">
      <Chat
        attempt={attempt}
        transcript={transcript}
        entry={entry}
        onChanges={(from, to) => showBetween({ from, to })}
      />
    </Boundary>
  );
  if (isPhone)
    return (
      <div className={styles.page}>
        <AttemptHead attempt={attempt} />
        <div className={styles.phone}>
          {/* It stays, so that coming back to it loses no place. */}
          <div className={styles.only} hidden={phone !== "chat"}>
            {chat}
          </div>
          {phone === "land" && <div className={styles.only}>{landing}</div>}
          {phone !== "chat" && phone !== "land" && (
            <div className={styles.only} role="tabpanel" id="right-pane" tabIndex={-1}>
              <PaneContent attempt={attempt} tab={phone} between={between} onBetween={showBetween} />
            </div>
          )}
        </div>
        <PhoneTabs attempt={attempt} tab={phone} onTab={(tab) => show(tab)} />
      </div>
    );
  return (
    <div className={styles.page}>
      <AttemptHead attempt={attempt} />
      <div className={styles.panes}>
        <Boundary what="The other attempts">
          <Neighbours project={attempt.project_id} task={attempt.task_id} />
        </Boundary>
        {chat}
        {!paneFolded && (
          <>
            <Splitter />
            <div className={styles.right} style={{ flexBasis: `${paneWidth * 100}%` }}>
              <RightPane
                attempt={attempt}
                tab={tab}
                runs={runs?.length ?? null}
                between={between}
                onTab={show}
                onBetween={showBetween}
              />
            </div>
          </>
        )}
      </div>
      {landing}
    </div>
  );
}

/** Tells the server that the person has looked, once for each state that the attempt comes into. */
function useSeen({ id, seen_at: seenAt, state_since: since }: TaskAttempt) {
  const told = useRef<string | null>(null);
  const isVisible = useSyncExternalStore(
    (changed) => {
      document.addEventListener("visibilitychange", changed);
      return () => document.removeEventListener("visibilitychange", changed);
    },
    () => !document.hidden,
  );
  useEffect(() => {
    if (!isVisible || told.current === since || (seenAt !== null && seenAt >= since)) return;
    told.current = since;
    // Nothing depends on it: the next opening tells it again.
    post(`/task-attempts/${id}/seen`).catch(() => {});
  }, [id, since, seenAt, isVisible]);
}

const PHONE = matchMedia("(max-width: 899px)");
const useIsPhone = () =>
  useSyncExternalStore(
    (changed) => {
      PHONE.addEventListener("change", changed);
      return () => PHONE.removeEventListener("change", changed);
    },
    () => PHONE.matches,
  );
