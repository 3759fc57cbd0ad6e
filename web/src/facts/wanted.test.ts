import { expect, test } from "vitest";
import type { Approval } from "../api/types";
import { isRisky, wanted, wantedLine, within } from "./wanted";

const ask = (tool_name: string, input: unknown, text = "May I?") =>
  ({ tool_name, input, text, kind: "permission" }) as unknown as Approval;

test("a permission to run names the command whole, also when it is a list of words", () => {
  expect(wanted(ask("Bash", { command: "rm -rf x", description: "to begin anew" }))).toEqual({
    verb: "Run",
    object: "rm -rf x",
    rest: null,
    reason: "to begin anew",
  });
  expect(wanted(ask("exec_command", { cmd: ["ls", "-l"] })).object).toBe("ls -l");
  expect(wantedLine(ask("Bash", { command: "one\ntwo\n" }))).toBe("Run (2 lines): one");
});

test("nothing that a tool was given is left out", () => {
  const bash = wanted(ask("Bash", { command: "ls", sandbox: false, description: { a: 1 }, reason: "so" }));
  expect(bash).toMatchObject({ object: "ls", reason: "so" });
  expect(JSON.parse(bash.rest ?? "")).toEqual({ sandbox: false, description: { a: 1 } });
  const write = wanted(ask("Write", { file_path: "a.ts", content: "x" }));
  expect(write).toMatchObject({ verb: "Edit", object: "a.ts", rest: '{\n  "content": "x"\n}' });
  expect(wantedLine(ask("mcp__x__do", { a: 1, b: 2 }))).toBe('Use mcp__x__do: { "a": 1, "b": 2 }');
  expect(wantedLine(ask("edit", null))).toBe("Edit: May I?");
});

test("only the agents' own tools get a verb: a tool that is named like one does not", () => {
  for (const tool of ["mcp__catalog__delete", "mcp__ssh__exec", "other: bash", "network"])
    expect(wanted(ask(tool, { command: "ls" }))).toMatchObject({ verb: `Use ${tool}`, object: "ls" });
  expect(wanted(ask("Bash\u200b", { command: "ls" })).verb).toBe("Use Bash<U+200B>");
  expect(within("Use WebThing")).toBe("use WebThing");
});

test("what deletes, pushes or resets is risky, and words that only look like it are not", () => {
  for (const command of [
    "rm -rf ./migrations",
    "git push origin main",
    "git reset --hard",
    "psql -c 'DROP TABLE x'",
  ])
    expect(isRisky(ask("Bash", { command })), command).toBe(true);
  for (const command of ["npm test", "ls firmware", "git status", "cat form.rm.txt"])
    expect(isRisky(ask("Bash", { command })), command).toBe(false);
  expect(isRisky(ask("delete_file", { path: "a" }))).toBe(true);
  expect(isRisky(ask("mcp__db__query", { url: "db", sql: "drop table x" }))).toBe(true);
  expect(isRisky(ask("Write", { path: "a", content: "rm -rf x" }))).toBe(false);
});
