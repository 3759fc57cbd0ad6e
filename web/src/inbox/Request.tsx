// What an agent asks, whole, and the buttons that answer it: permission, question, plan.

import type { FormEvent } from "react";
import type { Approval } from "../api/types";
import { wanted, within } from "../facts/wanted";
import { AskButtons } from "../ui/AskButtons";
import type { Answering } from "../ui/answer";
import { Button } from "../ui/Button";
import { useBegun } from "../ui/begun";
import { HoldButton } from "../ui/HoldButton";
import { Markdown } from "../ui/Markdown";
import { usePlan } from "../ui/plan";
import { Questions, useAnswers } from "../ui/Questions";
import { WholeRequest } from "../ui/WholeRequest";
import box from "../ui/Words.module.css";
import { reasonOf } from "./answer";
import styles from "./Inbox.module.css";

type Props = { ask: Approval; answering: Answering; agent: string };

export function Request(props: Props) {
  switch (props.ask.kind) {
    case "permission":
      return <Permission {...props} />;
    case "plan":
      return <Plan {...props} />;
    case "question":
      return <Question {...props} />;
  }
}

function Permission({ ask, answering, agent }: Props) {
  const { verb, reason } = wanted(ask);
  const why = reasonOf(ask);
  return (
    <fieldset className={styles.request}>
      <legend className="unseen">Approval: {verb}</legend>
      <p>
        {agent} wants to {within(verb)}:
      </p>
      <WholeRequest ask={ask} />
      {reason && <p className={styles.facts}>why: {reason}</p>}
      {why && <p className={styles.facts}>Deny tells why: {why}</p>}
      <div className={styles.answers}>
        <AskButtons ask={ask} answering={answering} hints={{ allow: "a", deny: "d" }} />
        <HoldButton
          verb="Allow in this attempt"
          busy={answering.said === true && answering.busy}
          disabled={answering.off}
          onClick={() => answering.answer(true, { scope: "session" })}
        />
      </div>
    </fieldset>
  );
}

function Plan({ ask, answering }: Props) {
  const { plan, edited, isEdited, words } = usePlan(ask);
  const [change, setChange] = useBegun<string | null>(ask.approval_id, "change", () => null);
  return (
    <fieldset className={styles.request}>
      <legend className="unseen">Plan</legend>
      <p>{isEdited ? "Plan ready, as you changed it." : "Plan ready."}</p>
      <div className={styles.plan}>
        <Markdown text={edited ?? plan} />
      </div>
      <div className={styles.answers}>
        <Button
          kind="ask"
          busy={answering.said === true && answering.busy}
          disabled={answering.off}
          onClick={() => answering.answer(true, words)}
        >
          Approve plan
        </Button>
        <input
          className={box.words}
          aria-label="What should be different?"
          placeholder="What should be different?"
          value={change ?? ""}
          onChange={(event) => setChange(event.target.value)}
        />
        <Button
          busy={answering.said === false && answering.busy}
          disabled={answering.off ?? (!change?.trim() && "Say what should be different.")}
          onClick={() => answering.answer(false, { reason: change?.trim() ?? "" })}
        >
          Ask for changes
        </Button>
        <Problem text={answering.problem} />
      </div>
    </fieldset>
  );
}

function Question({ ask, answering, agent }: Props) {
  const form = useAnswers(ask);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (form.answer) answering.answer(true, form.answer);
  };
  return (
    <form className={styles.request} onSubmit={send} aria-label="Question">
      <p>{agent} asks:</p>
      <Questions form={form} />
      <div className={styles.answers}>
        <Button
          kind="ask"
          submit
          busy={answering.busy}
          disabled={answering.off ?? (!form.answer && "Choose or write an answer first.")}
        >
          Answer
        </Button>
        <Button
          kind="quiet"
          busy={answering.said === false && answering.busy}
          disabled={answering.off}
          onClick={() => answering.answer(false)}
        >
          Do not answer
        </Button>
        <Problem text={answering.problem} />
      </div>
    </form>
  );
}

const Problem = ({ text }: { text: string | null }) =>
  text && (
    <span className={styles.problem} role="alert">
      {text}
    </span>
  );
