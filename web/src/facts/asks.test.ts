import { expect, test } from "vitest";
import type { Approval } from "../api/types";
import { answerTo, choose, NO_ANSWER, questionsOf } from "./asks";

const ask = (input: unknown, more: Partial<Approval> = {}) =>
  ({ input, text: "Which colour?", tool_name: "Bash", ...more }) as Approval;

test("a question without a list is its own words, and malformed ones do no harm", () => {
  expect(questionsOf(ask(null))).toEqual([{ question: "Which colour?", options: [], isMultiple: false }]);
  expect(questionsOf(ask({ questions: [null, 3, {}] }))).toEqual([
    { question: "Which colour?", options: [], isMultiple: false },
  ]);
  expect(questionsOf(ask({ questions: [{ question: "A?", options: [{ label: "x" }, "y", null] }] }))).toEqual(
    [
      {
        question: "A?",
        options: [
          { label: "x", description: "" },
          { label: "y", description: "" },
        ],
        isMultiple: false,
      },
    ],
  );
});

test("of some questions several options may be chosen, and words come last", () => {
  const list = [
    { question: "Which?", options: ["a", "b", "c"], multiSelect: true },
    { question: "One?", options: ["x", "y"] },
  ];
  const [which, one] = questionsOf(ask({ questions: list }));
  if (!which || !one) throw new Error("two questions");
  expect([which.isMultiple, one.isMultiple]).toEqual([true, false]);
  const c = choose(which, NO_ANSWER, "c", true);
  const both = choose(which, c, "a", true);
  expect(both.chosen).toEqual(["a", "c"]);
  expect(choose(which, both, "c", false).chosen).toEqual(["a"]);
  expect(choose(one, choose(one, NO_ANSWER, "x", true), "y", true)).toEqual({ chosen: ["y"], words: "" });
  expect(answerTo([which], [{ ...both, words: " and d " }])).toEqual({ text: "a, c, and d" });
  expect(answerTo([which, one], [both])).toBe(null);
  expect(answerTo([which, one], [both, { chosen: [], words: "z" }])).toEqual({
    answers: { "Which?": "a, c", "One?": "z" },
  });
});
