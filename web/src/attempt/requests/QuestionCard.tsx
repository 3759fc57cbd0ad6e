// Questions: options to choose from, words of one's own always last; several questions are one form.

import { type FormEvent, useId, useState } from "react";
import { Button } from "../../ui/Button";
import type { CardProps } from "./Request";
import styles from "./Request.module.css";
import { type Question, questionsOf } from "./wanted";

type Answer = { chosen: readonly string[]; words: string };
const NONE: Answer = { chosen: [], words: "" };

/** What was begun, by ask: a card that is scrolled away, or moves from the bar into the conversation, is made anew. */
const begun = new Map<string, Record<number, Answer>>();

export function QuestionCard({ ask, answering, agent }: CardProps) {
  const questions = questionsOf(ask);
  const [answers, setAnswers] = useState(() => begun.get(ask.approval_id) ?? {});
  const [why, setWhy] = useState<string | null>(null);
  const said = questions.map((_, index) => inWords(answers[index] ?? NONE));
  const isReady = said.every((words) => words !== "");
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    const [first] = said;
    if (questions.length === 1) answering.answer(true, { text: first });
    else {
      const byQuestion = questions.map(({ question }, index) => [question, said[index] ?? ""] as const);
      answering.answer(true, { answers: Object.fromEntries(byQuestion) });
    }
  };
  return (
    <form role="group" aria-label="Question" className={styles.group} onSubmit={send}>
      <p className={styles.asks}>{agent} asks:</p>
      {questions.map((question, index) => (
        <OneQuestion
          key={question.question}
          question={question}
          answer={answers[index] ?? NONE}
          onChange={(answer) => {
            const next = { ...answers, [index]: answer };
            begun.set(ask.approval_id, next);
            setAnswers(next);
          }}
        />
      ))}
      <div className={styles.row}>
        <Button
          kind="ask"
          submit
          busy={answering.said === true && answering.busy}
          disabled={!isReady && "Choose or write an answer first."}
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
              autoFocus
              onChange={(event) => setWhy(event.target.value)}
            />
            <Button
              busy={answering.said === false && answering.busy}
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

type OneProps = { question: Question; answer: Answer; onChange: (answer: Answer) => void };

function OneQuestion({ question, answer, onChange }: OneProps) {
  const name = useId();
  const { options, isMultiple } = question;
  const choose = (label: string, isChosen: boolean) => {
    if (!isMultiple) onChange({ chosen: [label], words: "" });
    else {
      const others = answer.chosen.filter((it) => it !== label);
      onChange({ ...answer, chosen: isChosen ? [...others, label] : others });
    }
  };
  return (
    <fieldset
      className={styles.question}
      onKeyDown={(event) => {
        // Numbers choose, but not while somebody writes.
        const option = options[Number(event.key) - 1];
        if (option && !(event.target instanceof HTMLTextAreaElement)) {
          event.preventDefault();
          choose(option.label, !answer.chosen.includes(option.label));
        }
      }}
    >
      <legend>{question.question}</legend>
      {options.length > 0 && (
        <div className={styles.options}>
          {options.map(({ label, description }) => (
            <label key={label} className={styles.option}>
              <input
                type={isMultiple ? "checkbox" : "radio"}
                name={name}
                checked={answer.chosen.includes(label)}
                onChange={(event) => choose(label, event.target.checked)}
              />
              <span>{label}</span>
              {description && <small>{description}</small>}
            </label>
          ))}
        </div>
      )}
      <textarea
        className={styles.words}
        aria-label={`Answer: ${question.question}`}
        placeholder={options.length > 0 ? "Or in your own words" : "Your answer"}
        rows={1}
        value={answer.words}
        onChange={(event) => onChange({ chosen: isMultiple ? answer.chosen : [], words: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }
        }}
      />
    </fieldset>
  );
}

const inWords = ({ chosen, words }: Answer) => [...chosen, words.trim()].filter((it) => it !== "").join(", ");
