// What an agent asks, whole, and the buttons that answer it: permission, question, plan.

import { type FormEvent, useId, useState } from "react";
import type { Approval } from "../api/types";
import { type Question, questionsOf, whatIsAsked } from "../facts/asks";
import { AskButtons } from "../ui/AskButtons";
import type { Answering } from "../ui/answer";
import { Button } from "../ui/Button";
import { TextField } from "../ui/Field";
import { HoldButton } from "../ui/HoldButton";
import { Markdown } from "../ui/Markdown";
import styles from "./Inbox.module.css";

type Props = { ask: Approval; answering: Answering; agent: string };

export function Request(props: Props) {
  switch (props.ask.kind) {
    case "permission":
      return <Permission {...props} />;
    case "plan":
      return <Plan {...props} />;
    case "question":
      return <Questions {...props} />;
  }
}

function Permission({ ask, answering, agent }: Props) {
  const { verb, object, reason } = whatIsAsked(ask);
  return (
    <fieldset className={styles.request}>
      <legend className="unseen">Approval: {verb}</legend>
      <p>
        {agent} wants to {verb.toLowerCase()}:
      </p>
      {/* It scrolls, so whoever has no pointer must be able to reach it. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box is reached by key. */}
      <pre className={styles.object} tabIndex={0}>
        {object}
      </pre>
      {reason && <p className={styles.facts}>why: {reason}</p>}
      <div className={styles.answers}>
        <AskButtons ask={ask} answering={answering} hints={{ allow: "a", deny: "d" }} />
        <HoldButton
          verb="Allow in this attempt"
          busy={answering.said === true && answering.busy}
          onClick={() => answering.answer(true, { scope: "session" })}
        />
      </div>
    </fieldset>
  );
}

function Plan({ ask, answering }: Props) {
  return (
    <fieldset className={styles.request}>
      <legend className="unseen">Plan</legend>
      <p>Plan ready.</p>
      <div className={styles.plan}>
        <Markdown text={ask.text} />
      </div>
      <div className={styles.answers}>
        <Button
          kind="ask"
          busy={answering.said === true && answering.busy}
          onClick={() => answering.answer(true)}
        >
          Go
        </Button>
        <Problem text={answering.problem} />
      </div>
    </fieldset>
  );
}

function Questions({ ask, answering, agent }: Props) {
  const questions = questionsOf(ask);
  const [answers, setAnswers] = useState<Record<string, string>>({});
  const isWhole = questions.every(({ question }) => answers[question]?.trim());
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!isWhole) return;
    if (questions.length === 1) answering.answer(true, { text: answers[questions[0]?.question ?? ""] });
    else answering.answer(true, { answers });
  };
  return (
    <form className={styles.request} onSubmit={send} aria-label="Question">
      <p>{agent} asks:</p>
      {questions.map((question) => (
        <OneQuestion
          key={question.question}
          question={question}
          value={answers[question.question] ?? ""}
          onChange={(value) => setAnswers({ ...answers, [question.question]: value })}
        />
      ))}
      <div className={styles.answers}>
        <Button
          kind="ask"
          submit
          busy={answering.busy}
          disabled={!isWhole && "Write or choose an answer first."}
        >
          Answer
        </Button>
        <Problem text={answering.problem} />
      </div>
    </form>
  );
}

type OneProps = { question: Question; value: string; onChange: (value: string) => void };

function OneQuestion({ question, value, onChange }: OneProps) {
  const name = useId();
  return (
    <fieldset className={styles.question}>
      <legend>{question.question}</legend>
      {question.options.map((option) => (
        <label key={option.label} className={styles.option}>
          <input
            type="radio"
            name={name}
            checked={value === option.label}
            onChange={() => onChange(option.label)}
          />
          <span>
            {option.label}
            {option.description && <small>{option.description}</small>}
          </span>
        </label>
      ))}
      <TextField
        label={question.options.length > 0 ? "Something else" : "Answer"}
        isLabelHidden={question.options.length === 0}
        value={question.options.some(({ label }) => label === value) ? "" : value}
        onChange={(event) => onChange(event.target.value)}
      />
    </fieldset>
  );
}

const Problem = ({ text }: { text: string | null }) =>
  text && (
    <span className={styles.problem} role="alert">
      {text}
    </span>
  );
