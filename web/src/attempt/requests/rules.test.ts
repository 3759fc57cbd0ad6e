import { describe, expect, it } from "vitest";
import type { Approval } from "../../api/types";
import { alike, rulesFor, wanted } from "./wanted";

const ask = (tool_name: string, input: unknown, text = "May I?") =>
  ({ tool_name, input, text, kind: "permission" }) as unknown as Approval;

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

  it("is answered together only when everything that waits is of one kind", () => {
    const [run, other, edit] = [ask("Bash", { command: "a" }), ask("shell", {}), ask("Edit", { path: "b" })];
    expect(alike([run, other])).toEqual([run, other]);
    expect(alike([run])).toEqual([]);
    expect(alike([run, edit])).toEqual([]);
    expect(alike([run, { ...other, kind: "question" }])).toEqual([]);
  });

  it("offers rules by the first words, and none that could not fit", () => {
    const patterns = (command: string) => rulesFor(ask("Bash", { command })).map(({ rule }) => rule.pattern);
    expect(patterns("npm test -- --watch")).toEqual(["npm test -- --watch", "npm test", "Bash"]);
    expect(patterns("git status; rm -rf x")).toEqual(["Bash"]);
    expect(rulesFor(ask("Read", { path: "a" })).map(({ rule }) => rule.about)).toEqual(["read_only", "tool"]);
  });
});
