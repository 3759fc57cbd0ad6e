// What the person is writing, kept by the server after a moment of quiet, so that a reload, another tab or a restart
// loses nothing. While the server cannot take it, this browser keeps it.

import { useCallback, useEffect, useRef, useState } from "react";
import { get, put } from "../../api/client";
import type { Draft, DraftResponse } from "../../api/types";
import { useWorld } from "../../api/world";

const QUIET = 400;

export type Attached = {
  id: string;
  name: string;
  path: string;
};

export type Drafting = {
  text: string;
  images: readonly Attached[];
  /** The server could not keep it; this browser does. */
  isKeptHere: boolean;
  write(text: string): void;
  attach(images: readonly Attached[]): void;
  /** Empties the box, here and on the server. */
  clear(): void;
};

const key = (attempt: string) => `forge.draft.${attempt}`;

export function useDraft(attempt: string): Drafting {
  const [text, setText] = useState("");
  const [images, setImages] = useState<readonly Attached[]>([]);
  const [isKeptHere, setKeptHere] = useState(false);
  const latest = useRef({ text: "", images: [] as readonly Attached[] });
  const isDirty = useRef(false);
  const saved = useRef<string | null>(null);
  const isQueued = useRef(false);
  const timer = useRef<number | undefined>(undefined);
  const told = useWorld((world) => draftOf(world.drafts, attempt));

  const show = useCallback((text: string) => {
    latest.current = { ...latest.current, text };
    setText(text);
  }, []);

  const save = useCallback(async () => {
    clearTimeout(timer.current);
    const { text, images } = latest.current;
    keepHere(attempt, text);
    // A queued draft belongs to the queue; what is written meanwhile stays here until it was sent.
    if (isQueued.current) return;
    try {
      saved.current = text;
      await put(`/task-attempts/${attempt}/draft?type=follow_up`, {
        prompt: text,
        image_ids: images.map((image) => image.id),
      });
      if (latest.current.text === text) {
        isDirty.current = false;
        keepHere(attempt, "");
      }
      setKeptHere(false);
    } catch {
      setKeptHere(text !== "");
    }
  }, [attempt]);

  const later = useCallback(() => {
    isDirty.current = true;
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => void save(), QUIET);
  }, [save]);

  // What was being written when the page was last open.
  useEffect(() => {
    let isThere = true;
    const here = keptHere(attempt);
    get<DraftResponse>(`/task-attempts/${attempt}/draft?type=follow_up`).then(
      (draft) => {
        if (!isThere || isDirty.current) return;
        isQueued.current = draft.queued;
        saved.current = draft.queued ? null : draft.prompt;
        show(here || (draft.queued ? "" : draft.prompt));
      },
      () => isThere && here && show(here),
    );
    return () => {
      isThere = false;
      if (isDirty.current) void save();
    };
  }, [attempt, save, show]);

  // What another tab writes appears here, unless somebody is writing here.
  useEffect(() => {
    if (!told) return;
    const wasQueued = isQueued.current;
    isQueued.current = told.queued || told.sending;
    if (isQueued.current) return;
    if (wasQueued) {
      // The queue gave it back, or it was sent: what stands in the box is what counts.
      if (latest.current.text !== told.prompt) later();
      return;
    }
    if (!isDirty.current && told.prompt !== saved.current) {
      saved.current = told.prompt;
      show(told.prompt);
    }
  }, [told, later, show]);

  return {
    text,
    images,
    isKeptHere,
    write(text) {
      show(text);
      later();
    },
    attach(images) {
      latest.current = { ...latest.current, images };
      setImages(images);
      later();
    },
    clear() {
      latest.current = { text: "", images: [] };
      setText("");
      setImages([]);
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

function keptHere(attempt: string): string {
  try {
    return localStorage.getItem(key(attempt)) ?? "";
  } catch {
    return "";
  }
}

function keepHere(attempt: string, text: string) {
  try {
    if (text) localStorage.setItem(key(attempt), text);
    else localStorage.removeItem(key(attempt));
  } catch {
    // A browser that keeps nothing still works; it only forgets.
  }
}
