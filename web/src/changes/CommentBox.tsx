// A comment on a line: as it is written, and as it stands after that.

import { useLayoutEffect, useRef } from "react";
import { shown } from "../app/keys";
import { Button } from "../ui/Button";
import { placeWords } from "./anchors";
import styles from "./CommentBox.module.css";
import type { Comment } from "./comments";
import { useReader } from "./reader";

/** The box of the comment that is being written. */
export function CommentBox() {
  const { comments } = useReader();
  const { writing, problem } = comments;
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(box.current.value.length, box.current.value.length);
  }, []);
  if (!writing) return null;
  const name = `Comment on ${placeWords(writing.side, writing.line, writing.end_line)}`;
  return (
    <div className={styles.box}>
      <textarea
        ref={box}
        aria-label={name}
        placeholder={name}
        rows={Math.min(10, Math.max(2, writing.text.split("\n").length))}
        value={writing.text}
        onChange={(event) => comments.write(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            event.stopPropagation();
            const row = box.current
              ?.closest("[role=rowgroup]")
              ?.querySelector<HTMLElement>(`[data-row="${rowOf(box.current)}"]`);
            // Who writes on is in the box still, or in the one that took its place.
            const isDone = () => document.activeElement === document.body;
            void comments
              .save()
              .then((isSaved) => isSaved && isDone() && row?.focus({ preventScroll: true }));
          } else if (event.key === "Escape") {
            event.preventDefault();
            event.stopPropagation();
            if (writing.text.trim() === "") comments.cancel();
            else box.current?.blur();
          }
        }}
      />
      <div className={styles.acts}>
        <Button size="small" onClick={comments.cancel}>
          Cancel
        </Button>
        <Button size="small" kind="primary" hint={shown("Mod+Enter")} onClick={() => void comments.save()}>
          Save
        </Button>
      </div>
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
    </div>
  );
}

// The row under which the box stands.
const rowOf = (box: HTMLElement) =>
  (box.closest("[role=row]")?.previousElementSibling as HTMLElement | null)?.dataset.row ?? "";

export function CommentNote({ comment, isStale }: { comment: Comment; isStale: boolean }) {
  const { comments } = useReader();
  if (comments.writing?.id === comment.id) return <CommentBox />;
  const place = placeWords(comment.side, comment.line, comment.end_line);
  const isSent = comment.sent_at !== null;
  return (
    <article className={styles.note} data-sent={isSent || undefined} aria-label={`Comment on ${place}`}>
      <header>
        <span>{place}</span>
        {isSent && <span>sent</span>}
        {!isSent && (
          <>
            <Button
              size="small"
              kind="quiet"
              icon="edit"
              label={`Edit the comment on ${place}`}
              onClick={() => void comments.begin({ ...comment })}
            />
            <Button
              size="small"
              kind="quiet"
              icon="close"
              label={`Drop the comment on ${place}`}
              onClick={() => void comments.discard([comment])}
            />
          </>
        )}
      </header>
      {isStale && (
        <p className={styles.stale}>
          {isSent ? "The line changed since your comment." : "The line changed since you wrote this."}
        </p>
      )}
      {isStale && <pre className={styles.quote}>{comment.quote}</pre>}
      <p className={styles.text}>{comment.text}</p>
    </article>
  );
}
