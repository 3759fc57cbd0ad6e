// What the person is writing, kept by the server after a moment of quiet, so that a reload, another tab or a restart
// loses nothing. While the server cannot take it, this browser keeps it.

import { useCallback, useEffect, useRef, useState } from "react";
import type { Draft } from "../../api/types";
import { useWorld } from "../../api/world";
import { EMPTY, type Kept, keepHere, keptHere } from "./kept";
import { readDraft, writeDraft } from "./send";
import { type Picture, partsOf, promptOf } from "./words";

const QUIET = 400;

export type Drafting = {
  text: string;
  images: readonly Picture[];
  /** The server could not keep it; this browser does. */
  isKeptHere: boolean;
  write(text: string): void;
  attach(images: readonly Picture[]): void;
  /** Puts a message before what is being written. */
  giveBack(message: Kept): void;
  /**
   * Does something for which a message has to be the server's draft. What is written meanwhile stays here, and a message
   * that is the draft still when it is over comes into the box.
   */
  lend<T>(message: Kept, act: () => Promise<T>): Promise<T>;
  /** Takes what was sent out of the box, here and on the server. What was written meanwhile stays. */
  sent(message: Written): void;
};

type Written = { text: string; images: readonly Picture[] };

/** What is left in the box when something of it was sent: what came behind it, or all, where that was changed. */
export function left(now: Written, sent: Written): Written {
  // What is sent has no space at its ends, and the box may have been told so meanwhile.
  const [text, head] = [now.text.trimStart(), sent.text.trim()];
  return {
    text: text.startsWith(head) ? text.slice(head.length).trimStart() : now.text,
    images: now.images.filter(({ id }) => !sent.images.some((it) => it.id === id)),
  };
}

/** The box as the server keeps it: the pictures stand at the end of the text, which tells their names and places. */
const keptOf = ({ text, images }: Written): Kept => ({
  prompt: images.length > 0 ? promptOf(text, images) : text,
  image_ids: images.map(({ id }) => id),
});

export const joined = (first: Kept, second: Kept): Kept => {
  const [one, two] = [partsOf(first.prompt, first.image_ids), partsOf(second.prompt, second.image_ids)];
  const text = [one.text, two.text].filter((it) => it.trim() !== "").join("\n\n");
  const others = two.images.filter(({ id }) => !first.image_ids.includes(id));
  return keptOf({ text, images: [...one.images, ...others] });
};

/** A page that is closed on the way finds both again. What is lent is with the server if nothing else was written. */
const withLent = (message: Kept, box: Kept) => (box.prompt === "" ? EMPTY : joined(message, box));

export function useDraft(attempt: string): Drafting {
  const [written, setWritten] = useState<Written>({ text: "", images: [] });
  const [isKeptHere, setKeptHere] = useState(false);
  const latest = useRef<Written>(written);
  const isDirty = useRef(false);
  const saved = useRef<string | null>(null);
  const version = useRef(0);
  const isQueued = useRef(false);
  /** What may be the draft instead: the draft has to be read before it is written over. */
  const lent = useRef<{ message: Kept; isOver: boolean } | null>(null);
  const timer = useRef<number | undefined>(undefined);
  const told = useWorld((world) => draftOf(world.drafts, attempt));

  const show = useCallback((now: Written) => {
    latest.current = now;
    setWritten(now);
  }, []);
  const showKept = useCallback(({ prompt, image_ids }: Kept) => show(partsOf(prompt, image_ids)), [show]);

  /** Looks what became of the draft that was lent. */
  const settle = useCallback(async () => {
    const draft = await readDraft(attempt);
    lent.current = null;
    isQueued.current = draft.queued || draft.sending;
    if (isQueued.current || draft.prompt.trim() === "" || draft.prompt === saved.current) return;
    showKept(joined({ prompt: draft.prompt, image_ids: draft.image_ids ?? [] }, keptOf(latest.current)));
  }, [attempt, showKept]);

  const save = useCallback(async () => {
    clearTimeout(timer.current);
    if (lent.current?.isOver === false) return;
    try {
      if (lent.current) await settle();
      const now = latest.current;
      const kept = keptOf(now);
      keepHere(attempt, kept);
      // A queued draft belongs to the queue; what is written meanwhile stays here until it was sent.
      if (isQueued.current) return;
      saved.current = kept.prompt;
      version.current = (await writeDraft(attempt, { ...kept, variant: null })).version;
      if (latest.current === now) {
        isDirty.current = false;
        keepHere(attempt, EMPTY);
      }
      setKeptHere(false);
    } catch {
      const kept = keptOf(latest.current);
      keepHere(attempt, lent.current ? withLent(lent.current.message, kept) : kept);
      setKeptHere(kept.prompt !== "");
    }
  }, [attempt, settle]);

  const later = useCallback(() => {
    isDirty.current = true;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => void save(), QUIET);
  }, [save]);

  // What was being written when the page was last open.
  useEffect(() => {
    let isThere = true;
    const here = keptHere(attempt);
    readDraft(attempt).then(
      (draft) => {
        if (!isThere || isDirty.current) return;
        isQueued.current = draft.queued;
        saved.current = draft.queued ? null : draft.prompt;
        const there = draft.queued ? EMPTY : { prompt: draft.prompt, image_ids: draft.image_ids ?? [] };
        showKept(here ?? there);
      },
      () => isThere && here && showKept(here),
    );
    return () => {
      isThere = false;
      if (isDirty.current) void save();
    };
  }, [attempt, save, showKept]);

  // What another tab writes appears here, unless somebody is writing here.
  useEffect(() => {
    // What was written here before is told late: the box has gone on since.
    if (!told || told.version < version.current || lent.current?.isOver === false) return;
    if (lent.current) return later();
    const wasQueued = isQueued.current;
    isQueued.current = told.queued || told.sending;
    if (isQueued.current) return;
    if (wasQueued) {
      // The queue gave it back, or it was sent: what stands in the box is what counts.
      if (keptOf(latest.current).prompt !== told.prompt) later();
      return;
    }
    if (!isDirty.current && told.prompt !== saved.current) {
      saved.current = told.prompt;
      showKept({ prompt: told.prompt, image_ids: told.image_ids ?? [] });
    }
  }, [told, later, showKept]);

  return {
    ...written,
    isKeptHere,
    write(text) {
      show({ ...latest.current, text });
      later();
    },
    attach(images) {
      show({ ...latest.current, images });
      later();
    },
    giveBack(message) {
      showKept(joined(message, keptOf(latest.current)));
      later();
    },
    async lend(message, act) {
      if (isDirty.current) await save();
      clearTimeout(timer.current);
      keepHere(attempt, withLent(message, keptOf(latest.current)));
      lent.current = { message, isOver: false };
      try {
        return await act();
      } finally {
        lent.current = { message, isOver: true };
        await save();
      }
    },
    sent(message) {
      show(left(latest.current, message));
      isDirty.current = true;
      void save();
    },
  };
}

function draftOf(drafts: ReadonlyMap<string, Draft>, attempt: string): Draft | undefined {
  for (const draft of drafts.values())
    if (draft.task_attempt_id === attempt && draft.draft_type === "follow_up") return draft;
  return undefined;
}
