// The questions of an ask: options to choose from, words of one's own always last; several are one form.

import { type KeyboardEvent, useId } from "react";
import type { Approval } from "../api/types";
import { type Answer, answerTo, choose, NO_ANSWER, type Question, questionsOf } from "../facts/asks";
import { useBegun } from "./begun";
import styles from "./Questions.module.css";
import box from "./Words.module.css";

type Form = {
  questions: readonly Question[];
  answers: readonly Answer[];
  change(index: number, answer: Answer): void;
  /** What goes to the agent; null while a question has no answer. */
  answer: ReturnType<typeof answerTo>;
};

export function useAnswers(ask: Approval): Form {
  const questions = questionsOf(ask);
  const [answers, setAnswers] = useBegun<readonly Answer[]>(ask.approval_id, "answers", () =>
    questions.map(() => NO_ANSWER),
  );
  return {
    questions,
    answers,
    change: (index, answer) => setAnswers(answers.with(index, answer)),
    answer: answerTo(questions, answers),
  };
}

export function Questions({ form: { questions, answers, change } }: { form: Form }) {
  return questions.map((question, index) => (
    <OneQuestion
      key={index}
      question={question}
      answer={answers[index] ?? NO_ANSWER}
      onChange={(answer) => change(index, answer)}
    />
  ));
}

const isLetter = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
  key.length === 1 && key !== " " && !ctrlKey && !metaKey && !altKey;

/** Puts the caret into the form of a question that is drawn: on its first option, or into its box. */
export function focusQuestion(ask: string): boolean {
  const form = document.querySelector(`form[data-ask="${CSS.escape(ask)}"]`);
  const field =
    form?.querySelector<HTMLElement>("input:checked") ?? form?.querySelector<HTMLElement>("input, textarea");
  field?.focus();
  return field != null;
}

let wanted: string | null = null;

/** Remembers that the user goes to a question to answer it. */
export const wantToAnswer = (ask: string) => {
  wanted = ask;
};

/** Says once whether the user came to answer this question. */
export function cameToAnswer(ask: string): boolean {
  if (wanted !== ask) return false;
  wanted = null;
  return true;
}

type OneProps = { question: Question; answer: Answer; onChange: (answer: Answer) => void };

function OneQuestion({ question, answer, onChange }: OneProps) {
  const name = useId();
  const { options, isMultiple } = question;
  return (
    <fieldset
      className={styles.question}
      onKeyDown={(event) => {
        // Numbers choose, but not while somebody writes.
        const option = options[Number(event.key) - 1];
        if (option && !(event.target instanceof HTMLTextAreaElement)) {
          event.preventDefault();
          onChange(choose(question, answer, option.label, !answer.chosen.includes(option.label)));
        } else if (isLetter(event) && event.target instanceof HTMLInputElement) {
          // Whoever begins to write beside an option writes an answer, and presses no key of the page.
          event.currentTarget.querySelector("textarea")?.focus();
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
                onChange={(event) => onChange(choose(question, answer, label, event.target.checked))}
              />
              <span>{label}</span>
              {description && <small>{description}</small>}
            </label>
          ))}
        </div>
      )}
      <textarea
        className={box.words}
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
