// The person's comments on an attempt's changes. They are kept by the server, so they outlive the tab; what is being
// written is kept here until it is saved.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { get, post, postOnce, put, remove } from "../api/client";
import type { FollowUpProcess, ReviewComment } from "../api/types";
import { say, sayError } from "../app/notices";
import { keyOf } from "../app/queries";
import { asWritten } from "./message";

export type Comment = ReviewComment;

/** A comment that is being written: a new one, or one that is changed. */
export type Writing = Pick<Comment, "path" | "side" | "line" | "end_line" | "quote" | "text"> & {
  id: string | null;
};

/** What the server keeps of it. */
const said = ({ path, side, line, end_line, quote, text }: Omit<Writing, "id">) => ({
  path,
  side,
  line,
  end_line,
  quote,
  text,
});

export function useComments(attempt: string) {
  const path = `/task-attempts/${attempt}/comments`;
  const queries = useQueryClient();
  const queryKey = keyOf.attempt(attempt, "comments");
  const { data, refetch } = useQuery({ queryKey, queryFn: ({ signal }) => get<Comment[]>(path, signal) });
  const [writing, setWriting] = useState<Writing | null>(null);
  // Kept beside the state: an answer of the server finds what was written on meanwhile.
  const latest = useRef<Writing | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const saving = useRef<Promise<boolean> | null>(null);
  const comments = data ?? [];
  const pending = comments.filter((comment) => comment.sent_at === null);
  const refresh = () => queries.invalidateQueries({ queryKey });
  const show = (now: Writing | null) => {
    latest.current = now;
    setWriting(now);
  };
  const note = (comment: Comment) =>
    queries.setQueryData<Comment[]>(
      queryKey,
      (known) => known && [...known.filter(({ id }) => id !== comment.id), comment],
    );

  /** Saves what is being written, once however often it is asked for; false when that did not work, and then it stays. */
  const save = (): Promise<boolean> => {
    saving.current ??= saveNow().finally(() => {
      saving.current = null;
    });
    return saving.current;
  };
  const saveNow = async (): Promise<boolean> => {
    const saved = latest.current;
    if (!saved || saved.text.trim() === "") {
      show(null);
      return true;
    }
    try {
      const comment = saved.id
        ? await put<Comment>(`${path}/${saved.id}`, { text: saved.text })
        : await post<Comment>(path, said(saved));
      note(comment);
      // Who wrote on meanwhile goes on with the same comment, and the box stays.
      const now = latest.current;
      show(now && now !== saved ? { ...now, id: comment.id } : null);
      setProblem(null);
      await refresh();
      return true;
    } catch (error) {
      setProblem(`The comment was not saved: ${(error as Error).message}`);
      return false;
    }
  };

  return {
    comments,
    pending,
    /** Those that are not sent yet, with what is being written. */
    written: asWritten(pending, writing),
    writing,
    problem,
    save,
    write(text: string) {
      show(latest.current && { ...latest.current, text });
    },
    /** Opens the box at a place; what was begun elsewhere is saved first, to its last word. */
    async begin(at: Writing) {
      while (latest.current) if (!(await save())) return;
      show(at);
    },
    cancel() {
      show(null);
      setProblem(null);
    },
    /** Drops comments, saved or not; undo saves all of them as they were. */
    async discard(list: ReadonlyArray<Comment | Writing>) {
      try {
        await Promise.all(list.map(({ id }) => id && remove(`${path}/${id}`)));
        if (list.some(({ id }) => id === latest.current?.id)) show(null);
        const undo = async () => {
          try {
            for (const comment of list) await post(path, said(comment));
          } catch (error) {
            sayError(error);
          }
          await refresh();
        };
        say(list.length === 1 ? "The comment is gone." : `${list.length} comments are gone.`, {
          undo: () => void undo(),
        });
        setProblem(null);
      } catch (error) {
        setProblem(`The comment is still there: ${(error as Error).message}`);
      }
      await refresh();
    },
    /** Sends a message and the comments that it is made of: both, or neither. */
    async send(prompt: string, list: readonly Comment[]) {
      const body = { prompt, comment_ids: list.map(({ id }) => id) };
      // Also when it is refused: another tab may have sent them.
      const { delivered } = await postOnce<FollowUpProcess>(
        `/task-attempts/${attempt}/follow-up`,
        body,
      ).finally(refresh);
      setProblem(null);
      say(delivered === "queued" ? "It is sent after this turn." : "Sent to the agent.");
    },
    reload: refetch,
  };
}

export type Comments = ReturnType<typeof useComments>;
