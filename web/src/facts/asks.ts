// What a question holds, out of the input that its agent sent with it. Agents differ, so nothing here is taken for granted.

import type { Approval } from "../api/types";

export type Question = {
  question: string;
  options: Array<{ label: string; description: string }>;
  /** More than one of the options may be chosen. */
  isMultiple: boolean;
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** The questions of an ask; its own words when it brings no list. */
export function questionsOf(ask: Approval): Question[] {
  const listed = isRecord(ask.input) && Array.isArray(ask.input.questions) ? ask.input.questions : [];
  const questions = listed.filter(isRecord).flatMap((it): Question[] => {
    const question = textOf(it.question) || textOf(it.label) || textOf(it.header);
    const options = (Array.isArray(it.options) ? it.options : []).flatMap((option) => {
      const label = isRecord(option) ? textOf(option.label) : textOf(option);
      return label ? [{ label, description: isRecord(option) ? textOf(option.description) : "" }] : [];
    });
    const isMultiple = it.multiSelect === true || it.multiple === true;
    return question ? [{ question, options, isMultiple }] : [];
  });
  if (questions.length > 0) return questions;
  return [{ question: ask.text || ask.tool_name, options: [], isMultiple: false }];
}

/** What a person answers to a question: options of it, words of their own, or both. */
export type Answer = { chosen: readonly string[]; words: string };
export const NO_ANSWER: Answer = { chosen: [], words: "" };

/** What goes to the agent; null while a question has no answer. */
export function answerTo(
  questions: readonly Question[],
  answers: readonly Answer[],
): { text: string } | { answers: Record<string, string> } | null {
  const said = questions.map((question, index) => ({
    question: question.question,
    words: inWords(answers[index] ?? NO_ANSWER),
  }));
  if (said.some(({ words }) => words === "")) return null;
  if (said.length === 1) return { text: said[0]?.words ?? "" };
  return { answers: Object.fromEntries(said.map(({ question, words }) => [question, words])) };
}

const inWords = ({ chosen, words }: Answer) => [...chosen, words.trim()].filter((it) => it !== "").join(", ");

/** An answer after an option was chosen, or is no longer. Where one may be chosen, it takes the place of all else. */
export function choose(
  { options, isMultiple }: Question,
  answer: Answer,
  label: string,
  isChosen: boolean,
): Answer {
  if (!isMultiple) return { chosen: [label], words: "" };
  const wanted = (it: string) => (it === label ? isChosen : answer.chosen.includes(it));
  return { ...answer, chosen: options.map((it) => it.label).filter(wanted) };
}
