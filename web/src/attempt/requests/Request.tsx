// Something that an agent waits for: what it wants, in full, and the answers. One that is not open any more says how it
// ended.

import { createContext, useContext, useEffect, useRef } from "react";
import type { Approval } from "../../api/types";
import { clock } from "../../facts/clock";
import type { Answering } from "../../ui/answer";
import { useAnswer } from "../../ui/answer";
import { ApprovalCard } from "./ApprovalCard";
import { PlanCard } from "./PlanCard";
import { QuestionCard } from "./QuestionCard";
import styles from "./Request.module.css";

export type Waiting = {
  /** The oldest open ask, which the keys answer, and the state of answering it. */
  first: { ask: Approval; answering: Answering } | null;
  agent: string;
  /** Tells whether the card of an ask can be seen. */
  seen(ask: string, isSeen: boolean): void;
  /** Puts text into the composer. */
  reply(text: string): void;
  /** The ask that is being answered in the bar below the conversation. */
  below: string | null;
  /** Several that one answer may be given to, and the way to give it; null when there are none. */
  all: { count: number; show(): void } | null;
};

export const WaitingHere = createContext<Waiting>({
  first: null,
  agent: "The agent",
  seen() {},
  reply() {},
  below: null,
  all: null,
});

export type CardProps = { ask: Approval; answering: Answering; agent: string; hasKeys: boolean };

export function Request({ ask, isInBar = false }: { ask: Approval; isInBar?: boolean }) {
  const { first, agent, seen, below } = useContext(WaitingHere);
  const own = useAnswer(ask);
  const isFirst = first?.ask.approval_id === ask.approval_id;
  const isBelow = below === ask.approval_id && !isInBar;
  const card = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the card is another one when it comes back from below
  useEffect(() => {
    const element = card.current;
    if (!element) return;
    const observer = new IntersectionObserver(
      ([entry]) => seen(ask.approval_id, Boolean(entry?.isIntersecting)),
      { threshold: 0.2 },
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      seen(ask.approval_id, false);
    };
  }, [ask.approval_id, seen, isBelow]);
  if (ask.state !== "open") return <Ended ask={ask} />;
  // Whoever writes there keeps the focus; here it would be another box.
  if (isBelow) return <p className={styles.ended}>It is answered below.</p>;
  const props: CardProps = { ask, agent, answering: isFirst ? first.answering : own, hasKeys: isFirst };
  return (
    <div ref={card} className={styles.card}>
      {ask.kind === "plan" ? (
        <PlanCard {...props} />
      ) : ask.kind === "question" ? (
        <QuestionCard {...props} />
      ) : (
        <ApprovalCard {...props} />
      )}
      {props.answering.problem && (
        <p role="alert" className={styles.problem}>
          {props.answering.problem}
        </p>
      )}
    </div>
  );
}

/** How an ask ended, in words. */
function Ended({ ask }: { ask: Approval }) {
  const at = ask.answered_at ? `, ${clock(ask.answered_at)}` : "";
  const by = ask.answered_by ? ` by ${ask.answered_by.replace(/^owner\b/, "you")}` : "";
  const words = {
    open: "",
    approved: `${ask.kind === "question" ? "Answered" : ask.kind === "plan" ? "Approved" : "Allowed"}${by}${at}`,
    denied: `Denied${by}${at}${ask.answer ? `: ${ask.answer}` : ""}`,
    cancelled: `Cancelled: the attempt was stopped, or the agent took it back${at}.`,
    expired: `Expired: the agent stopped waiting${at ? ` at ${clock(ask.answered_at ?? "")}` : ""}. Ask it to try again.`,
  }[ask.state];
  return <p className={styles.ended}>{words}</p>;
}
