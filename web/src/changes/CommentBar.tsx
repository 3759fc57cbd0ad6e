// The comments that the agent has not been told yet, as the one message that they will be.

import { useState } from "react";
import { sentenceOf } from "../api/client";
import { shown } from "../app/keys";
import { Button } from "../ui/Button";
import { counted } from "../ui/numbers";
import styles from "./CommentBar.module.css";
import type { Comments } from "./comments";
import { composed, type Edited, stands } from "./message";

type Props = { id: string; comments: Comments; viewed: number; total: number };

export function CommentBar({ id, comments, viewed, total }: Props) {
  const { written, writing } = comments;
  const [edited, setEdited] = useState<Edited | null>(null);
  const [isMessageShown, setMessageShown] = useState(innerHeight > 700);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const mine = edited && stands(edited, written) ? edited : null;
  const isMessage = written.length > 0 || mine?.isRefused === true;
  // A refusal stays until somebody has read it, also when it was for comments that are sent by now.
  if (!isMessage && !problem) return null;
  const files = new Set(written.map(({ path }) => path)).size;
  const message = mine?.text ?? composed(written);

  const send = async () => {
    if (isSending || !isMessage) return;
    setSending(true);
    setProblem(null);
    try {
      if (await comments.send(message, written)) setEdited(null);
    } catch (error) {
      setProblem(`Not sent: ${sentenceOf(error)}`);
      setEdited(mine && { ...mine, isRefused: true });
    } finally {
      setSending(false);
    }
  };
  const discard = () => {
    setProblem(null);
    // Comments that come back with undo find it.
    setEdited(edited && { ...edited, isRefused: false });
    if (written.length > 0) void comments.discard(written);
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
      {isMessage && isMessageShown && !writing && (
        <textarea
          className={styles.message}
          aria-label="Message"
          rows={Math.min(10, message.split("\n").length)}
          value={message}
          readOnly={isSending}
          onChange={(event) => setEdited({ ...(mine ?? { of: written }), text: event.target.value })}
        />
      )}
      <div className={styles.row}>
        <span>
          {written.length > 0
            ? `${counted(written.length, "comment")} in ${counted(files, "file")}`
            : "No comment is left"}
          <span className={styles.viewed}>
            , {viewed} of {total} viewed
          </span>
        </span>
        {isMessage && (
          <Button
            size="small"
            kind="quiet"
            aria-expanded={isMessageShown}
            icon={isMessageShown ? "down" : "right"}
            onClick={() => setMessageShown(!isMessageShown)}
          >
            Message
          </Button>
        )}
        <Button size="small" disabled={isSending && "It is being sent."} onClick={discard}>
          {isMessage ? "Discard" : "Close"}
        </Button>
        {isMessage && (
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
        )}
      </div>
      {(problem ?? (writing ? null : comments.problem)) && (
        <p role="alert" className={styles.problem}>
          {problem ?? comments.problem}
        </p>
      )}
    </section>
  );
}
