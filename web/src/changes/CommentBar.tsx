// The comments that the agent has not been told yet, as the one message that they will be.

import { useState } from "react";
import { sentenceOf } from "../api/client";
import { shown } from "../app/keys";
import { Button } from "../ui/Button";
import { counted } from "../ui/numbers";
import styles from "./CommentBar.module.css";
import type { Comments } from "./comments";
import { composed } from "./message";

type Props = { id: string; comments: Comments; viewed: number; total: number };

export function CommentBar({ id, comments, viewed, total }: Props) {
  const { pending, written, writing } = comments;
  const [edited, setEdited] = useState<{ of: string; text: string } | null>(null);
  const [isMessageShown, setMessageShown] = useState(innerHeight > 700);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  if (written.length === 0) return null;
  const files = new Set(written.map(({ path }) => path)).size;
  const whole = composed(written);
  // What was edited stands as long as the comments are those that it was made of.
  const message = edited?.of === whole ? edited.text : whole;

  const send = async () => {
    if (isSending) return;
    setSending(true);
    setProblem(null);
    try {
      if (!(await comments.save())) return;
      const { data } = await comments.reload();
      await comments.send(
        message,
        (data ?? pending).filter((comment) => comment.sent_at === null),
      );
      setEdited(null);
    } catch (error) {
      setProblem(`Not sent: ${sentenceOf(error)}`);
    } finally {
      setSending(false);
    }
  };

  return (
    <section
      className={styles.bar}
      aria-label="Comments"
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          void send();
        }
      }}
    >
      {isMessageShown && !writing && (
        <textarea
          className={styles.message}
          aria-label="Message"
          rows={Math.min(10, message.split("\n").length)}
          value={message}
          onChange={(event) => setEdited({ of: whole, text: event.target.value })}
        />
      )}
      <div className={styles.row}>
        <span>
          {counted(written.length, "comment")} in {counted(files, "file")}
          <span className={styles.viewed}>
            , {viewed} of {total} viewed
          </span>
        </span>
        <Button
          size="small"
          kind="quiet"
          aria-expanded={isMessageShown}
          icon={isMessageShown ? "down" : "right"}
          onClick={() => setMessageShown(!isMessageShown)}
        >
          Message
        </Button>
        <Button size="small" onClick={() => void comments.discard(written)}>
          Discard
        </Button>
        <Button
          size="small"
          kind="primary"
          id={id}
          hint={shown("Mod+Enter")}
          busy={isSending && "Sending"}
          onClick={() => void send()}
        >
          Send to agent
        </Button>
      </div>
      {(problem ?? (writing ? null : comments.problem)) && (
        <p role="alert" className={styles.problem}>
          {problem ?? comments.problem}
        </p>
      )}
    </section>
  );
}
