import { expect, test } from "vitest";
import type { Approval } from "../api/types";
import { answerTo, choose, isRisky, NO_ANSWER, questionsOf, whatIsAsked } from "./asks";

const ask = (input: unknown, more: Partial<Approval> = {}) =>
  ({ input, text: "Which colour?", tool_name: "Bash", ...more }) as Approval;

test("a permission to run names the command whole, also when it is a list of words", () => {
  expect(whatIsAsked(ask({ command: "rm -rf x", description: "to begin anew" }))).toEqual({
    verb: "Run",
    object: "rm -rf x",
    reason: "to begin anew",
  });
  expect(whatIsAsked(ask({ command: ["ls", "-l"] })).object).toBe("ls -l");
});

test("an edit names its file, and a tool that is not known shows all of its input", () => {
  expect(whatIsAsked(ask({ file_path: "/a/b.ts" }, { tool_name: "Edit" })).verb).toBe("Edit");
  expect(whatIsAsked(ask({ a: 1 }, { tool_name: "mcp__x" }))).toEqual({
    verb: "Use mcp__x",
    object: '{\n  "a": 1\n}',
    reason: "",
  });
});

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

test("what deletes, pushes or resets is risky, and words that only look like it are not", () => {
  for (const command of [
    "rm -rf ./migrations",
    "git push origin main",
    "git reset --hard",
    "psql -c 'DROP TABLE x'",
  ])
    expect(isRisky(ask({ command })), command).toBe(true);
  for (const command of ["npm test", "ls firmware", "git status", "cat form.rm.txt"])
    expect(isRisky(ask({ command })), command).toBe(false);
  expect(isRisky(ask({ path: "a" }, { tool_name: "delete_file" }))).toBe(true);
});
