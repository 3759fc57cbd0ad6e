// The small answer to what an agent asks: Deny and Allow for a permission, a way to the attempt for what must be read.

import { Link } from "wouter";
import type { Approval } from "../api/types";
import { isRisky } from "../facts/wanted";
import styles from "./AskButtons.module.css";
import { type Answering, useAnswer } from "./answer";
import { Button } from "./Button";
import { HoldButton } from "./HoldButton";
import { wantToAnswer } from "./Questions";

type Props = {
  ask: Approval;
  size?: "normal" | "small";
  /** The task's title, where several requests stand on one page: it becomes part of the buttons' names. */
  title?: string;
  /** The keys that do the same here, shown beside the words. */
  hints?: { allow: string; deny: string };
  /** When keys answer as well, whoever listens to them has the state. */
  answering?: Answering;
};

export function AskButtons({ ask, size = "normal", title, hints, answering }: Props) {
  const own = useAnswer(ask);
  const { busy, said, problem, off, answer } = answering ?? own;
  const named = (word: string) => (title ? `${word}: ${title}` : undefined);
  if (ask.kind !== "permission")
    return (
      <Link
        className={styles.link}
        href={`/a/${ask.task_attempt_id}`}
        aria-label={named(verbOf(ask))}
        onClick={() => wantToAnswer(ask.approval_id)}
      >
        {verbOf(ask)}
      </Link>
    );
  const allow = {
    kind: "ask",
    size,
    hint: hints?.allow,
    busy: said === true && busy,
    disabled: off,
    onClick: () => answer(true),
  } as const;
  return (
    <span className={styles.buttons}>
      <Button
        size={size}
        label={named("Deny")}
        hint={hints?.deny}
        busy={said === false && busy}
        disabled={off}
        onClick={() => answer(false)}
      >
        Deny
      </Button>
      {isRisky(ask) ? (
        <HoldButton verb="Allow" of={title} {...allow} />
      ) : (
        <Button label={named("Allow")} {...allow}>
          Allow
        </Button>
      )}
      {problem && (
        <span className={styles.problem} role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}

const verbOf = (ask: Approval) => (ask.kind === "plan" ? "Read" : "Answer");
