// Short messages in the corner: what was done, with its undo, and what did not work. Errors stay until closed.

import { useEffect, useState, useSyncExternalStore } from "react";
import { sentenceOf } from "../api/client";
import { Button } from "../ui/Button";
import { useActions } from "./keys";
import styles from "./notices.module.css";

type Notice = {
  id: number;
  text: string;
  isError: boolean;
  undo?: () => void;
  action?: { words: string; run: () => void };
};

let notices: readonly Notice[] = [];
let next = 1;
const watchers = new Set<() => void>();

function change(list: readonly Notice[]) {
  notices = list;
  for (const changed of watchers) changed();
}

const MOST = 3;
const STAYS = 8000;

/** Says what was done; `undo` takes it back. */
export function say(text: string, more: Pick<Notice, "undo" | "action"> = {}) {
  change([...notices, { id: next++, text, isError: false, ...more }].slice(-MOST));
}

/** Says what did not work; the same sentence should also stand beside the button that was pressed. */
export function sayError(error: unknown) {
  change([...notices, { id: next++, text: sentenceOf(error), isError: true }].slice(-MOST));
}

const close = (id: number) => change(notices.filter((notice) => notice.id !== id));

/** The region that shows them; one for the page. */
export function Notices() {
  const list = useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
    () => notices,
  );
  const last = list.findLast((notice) => notice.undo);
  useActions("everywhere", { undo: last && (() => takeBack(last)) });
  return (
    <section className={styles.region} aria-label="Notices">
      {list.map((notice) => (
        <Toast key={notice.id} notice={notice} />
      ))}
    </section>
  );
}

function takeBack(notice: Notice) {
  close(notice.id);
  notice.undo?.();
}

function Toast({ notice }: { notice: Notice }) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (notice.isError || isHeld) return;
    const timer = setTimeout(() => close(notice.id), STAYS);
    return () => clearTimeout(timer);
  }, [notice, isHeld]);
  return (
    <div
      className={styles.toast}
      data-error={notice.isError || undefined}
      role={notice.isError ? "alert" : "status"}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span>{notice.text}</span>
      {notice.undo && <Button onClick={() => takeBack(notice)}>Undo</Button>}
      {notice.action && (
        <Button
          onClick={() => {
            close(notice.id);
            notice.action?.run();
          }}
        >
          {notice.action.words}
        </Button>
      )}
      <Button kind="quiet" icon="close" label="Close" onClick={() => close(notice.id)} />
    </div>
  );
}
