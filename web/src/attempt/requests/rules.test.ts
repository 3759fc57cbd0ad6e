import { describe, expect, it } from "vitest";
import type { Approval } from "../../api/types";
import { alike, rulesFor } from "./rules";

const ask = (tool_name: string, input: unknown, text = "May I?") =>
  ({ tool_name, input, text, kind: "permission" }) as unknown as Approval;

describe("requests of an agent", () => {
  it("are answered together only when everything that waits is of one kind", () => {
    const [run, other, edit] = [
      ask("Bash", { command: "a" }),
      ask("shell", { cmd: "b" }),
      ask("Edit", { path: "b" }),
    ];
    expect(alike([run, other])).toEqual([run, other]);
    expect(alike([run])).toEqual([]);
    expect(alike([run, edit])).toEqual([]);
    expect(alike([run, { ...other, kind: "question" }])).toEqual([]);
  });

  it("offer rules by the first words, and none that could not fit", () => {
    const patterns = (command: string) => rulesFor(ask("Bash", { command })).map(({ rule }) => rule.pattern);
    expect(patterns("npm test -- --watch")).toEqual(["npm test -- --watch", "npm test", "Bash"]);
    expect(patterns("git status; rm -rf x")).toEqual(["Bash"]);
    expect(rulesFor(ask("Read", { path: "a" })).map(({ rule }) => rule.about)).toEqual(["read_only", "tool"]);
  });
});
