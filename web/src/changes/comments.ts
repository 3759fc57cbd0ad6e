// The person's comments on an attempt's changes. They are kept by the server, so they outlive the tab; what is being
// written is kept here until it is saved.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { get, post } from "../api/client";
import { say, sayError } from "../app/notices";
import { keyOf } from "../app/queries";
import { asWritten } from "./message";
import { type Comment, Pen, said, type Writing } from "./pen";

export type { Comment, Writing } from "./pen";

export function useComments(attempt: string) {
  const path = `/task-attempts/${attempt}/comments`;
  const queries = useQueryClient();
  const queryKey = keyOf.attempt(attempt, "comments");
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => get<Comment[]>(path, signal),
  });
  const refresh = () => queries.invalidateQueries({ queryKey });
  const pen = useMemo(() => {
    const queryKey = keyOf.attempt(attempt, "comments");
    return new Pen(attempt, (comment) => {
      queries.setQueryData<Comment[]>(
        queryKey,
        (known) => known && [...known.filter(({ id }) => id !== comment.id), comment],
      );
      return queries.invalidateQueries({ queryKey });
    });
  }, [attempt, queries]);
  const writing = useSyncExternalStore(pen.subscribe, () => pen.writing);
  const problem = useSyncExternalStore(pen.subscribe, () => pen.problem);
  // Another tab may have sent what is being written here.
  useEffect(() => {
    pen.sent((data ?? []).filter((comment) => comment.sent_at !== null).map(({ id }) => id));
  }, [pen, data]);
  const comments = data ?? [];
  const pending = comments.filter((comment) => comment.sent_at === null);

  return {
    comments,
    /** Why nobody knows which comments there are, and how they are asked for again; null while somebody does. */
    missing: error && !data ? { error, again: () => void refetch() } : null,
    pending,
    /** Those that are not sent yet, with what is being written. */
    written: asWritten(pending, writing),
    writing,
    problem,
    save: () => pen.save(),
    write: (text: string) => pen.write(text),
    begin: (at: Writing) => pen.begin(at),
    cancel: () => pen.cancel(),
    /** Drops comments, saved or not; undo saves all of them as they were. */
    async discard(list: ReadonlyArray<Comment | Writing>) {
      if (await pen.discard(list)) {
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
      }
      await refresh();
    },
    /** Sends a message and the comments that it is made of; false when what is being written could not be saved. */
    async send(prompt: string, list: ReadonlyArray<Comment | Writing>): Promise<boolean> {
      // Also when it is refused: another tab may have sent them.
      const delivered = await pen.send(prompt, list).finally(refresh);
      if (!delivered) return false;
      say(delivered === "queued" ? "It is sent after this turn." : "Sent to the agent.");
      return true;
    },
  };
}

export type Comments = ReturnType<typeof useComments>;
