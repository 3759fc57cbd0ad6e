import { describe, expect, it } from "vitest";
import type { Approval } from "../../api/types";
import { questionsOf, rulesFor, wanted } from "./wanted";

const ask = (tool_name: string, input: unknown, text = "May I?") =>
  ({ tool_name, input, text }) as unknown as Approval;

describe("what an agent wants", () => {
  it("is a verb and its object", () => {
    expect(wanted(ask("Bash", { command: "rm -rf x", description: "clean" }))).toEqual({
      verb: "Run",
      object: "rm -rf x",
      rest: null,
      reason: "clean",
    });
    expect(wanted(ask("Write", { file_path: "a.ts", content: "x" }))).toMatchObject({
      verb: "Edit",
      object: "a.ts",
    });
    expect(wanted(ask("mcp__x__do", { a: 1 }))).toMatchObject({ verb: "mcp__x__do", object: null });
  });

  it("offers rules by the first words, and none that could not fit", () => {
    const patterns = (command: string) => rulesFor(ask("Bash", { command })).map(({ rule }) => rule.pattern);
    expect(patterns("npm test -- --watch")).toEqual(["npm test -- --watch", "npm test", "Bash"]);
    expect(patterns("git status; rm -rf x")).toEqual(["Bash"]);
    expect(rulesFor(ask("Read", { path: "a" })).map(({ rule }) => rule.about)).toEqual(["read_only", "tool"]);
  });
});

describe("questions", () => {
  it("come from the input, with their options", () => {
    const questions = [
      { question: "Which?", options: [{ label: "A", description: "first" }, "B"], multiSelect: true },
      { question: "Why?" },
    ];
    expect(questionsOf(ask("AskUserQuestion", { questions }))).toEqual([
      {
        question: "Which?",
        header: null,
        isMultiple: true,
        options: [
          { label: "A", description: "first" },
          { label: "B", description: null },
        ],
      },
      { question: "Why?", header: null, isMultiple: false, options: [] },
    ]);
  });

  it("are the ask's own words when there is no list", () => {
    expect(questionsOf(ask("question", { question: "x" }, "Which colour?"))[0]?.question).toBe(
      "Which colour?",
    );
  });
});
