// A question where it was asked: the form of it, or a word why it is not answered.

import type { FormEvent } from "react";
import { Button } from "../../ui/Button";
import { useBegun } from "../../ui/begun";
import { Questions, useAnswers } from "../../ui/Questions";
import type { CardProps } from "./Request";
import styles from "./Request.module.css";

export function QuestionCard({ ask, answering, agent }: CardProps) {
  const form = useAnswers(ask);
  const [why, setWhy, isWhyFresh] = useBegun<string | null>(ask.approval_id, "why", () => null);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (form.answer) answering.answer(true, form.answer);
  };
  return (
    <form
      role="group"
      aria-label="Question"
      className={styles.group}
      data-ask={ask.approval_id}
      onSubmit={send}
    >
      <p className={styles.asks}>{agent} asks:</p>
      <Questions form={form} />
      <div className={styles.row}>
        <Button
          kind="ask"
          submit
          busy={answering.said === true && answering.busy}
          disabled={answering.off ?? (!form.answer && "Choose or write an answer first.")}
        >
          Answer
        </Button>
        {why === null ? (
          <Button kind="quiet" onClick={() => setWhy("")}>
            Do not answer
          </Button>
        ) : (
          <>
            <input
              className={styles.why}
              aria-label="Tell the agent why (optional)"
              placeholder="Tell the agent why (optional)"
              value={why}
              autoFocus={isWhyFresh}
              onChange={(event) => setWhy(event.target.value)}
            />
            <Button
              busy={answering.said === false && answering.busy}
              disabled={answering.off}
              onClick={() => answering.answer(false, why.trim() ? { reason: why.trim() } : {})}
            >
              Turn it down
            </Button>
          </>
        )}
      </div>
    </form>
  );
}
