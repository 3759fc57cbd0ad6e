// Finding words in a conversation. The server looks, as the page holds only a window of it.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get } from "../../api/client";
import type { TaskAttemptEntries } from "../../api/types";
import { keyOf } from "../../app/queries";
import { Button } from "../../ui/Button";
import { Failed } from "../../ui/Nothing";
import { counted } from "../../ui/numbers";
import styles from "./Find.module.css";
import { keyAt } from "./whole";

type Props = { attempt: string; onShow: (key: string) => void; onClose: () => void };

const MOST = 50;

export function Find({ attempt, onShow, onClose }: Props) {
  const [text, setText] = useState("");
  const [sought, setSought] = useState("");
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: [...keyOf.settings("find"), attempt, sought],
    queryFn: ({ signal }) =>
      get<TaskAttemptEntries>(
        `/task-attempts/${attempt}/entries?find=${encodeURIComponent(sought)}&limit=${MOST}`,
        signal,
      ),
    enabled: sought !== "",
  });
  const hits = data?.hits;
  return (
    <search className={styles.find}>
      <form
        className={styles.row}
        onSubmit={(event) => {
          event.preventDefault();
          setSought(text.trim());
        }}
      >
        <input
          type="search"
          aria-label="Find in this attempt"
          placeholder="Find in this attempt"
          value={text}
          autoFocus
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.stopPropagation();
            onClose();
          }}
        />
        <Button submit busy={isFetching && "Looking"}>
          Find
        </Button>
        <Button kind="quiet" icon="close" label="Close the search" onClick={onClose} />
      </form>
      {error && <Failed what="What was found is" error={error} again={() => void refetch()} />}
      {hits && (
        <>
          <p role="status" className={styles.count}>
            {hits.length === 0
              ? "Nothing found."
              : hits.length >= MOST
                ? `The newest ${MOST} places.`
                : counted(hits.length, "place")}
          </p>
          <ul className={styles.hits} aria-label="Found">
            {hits.map((hit) => {
              const key = keyAt(hit.execution_process_id, hit.index);
              return (
                <li key={key}>
                  <button type="button" onClick={() => onShow(key)}>
                    {hit.snippet}
                  </button>
                </li>
              );
            })}
          </ul>
        </>
      )}
    </search>
  );
}
