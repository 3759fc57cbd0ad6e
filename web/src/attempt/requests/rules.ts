// What an agent wants to do, in a verb and an object, and which rules would allow the like of it from now on.

import type { Approval, SetRules } from "../../api/types";

export type Wanted = {
  /** "Run", "Edit", "Fetch", or the tool's own name. */
  verb: string;
  /** The whole command, path or address; null when the input tells nothing of the kind. */
  object: string | null;
  /** Everything else that the tool was given, as text. */
  rest: string | null;
  /** Why, as the agent says. */
  reason: string | null;
};

const VERBS: ReadonlyArray<[RegExp, string, readonly string[]]> = [
  [/bash|shell|command|exec|terminal|^run/i, "Run", ["command", "cmd", "script"]],
  [/edit|write|patch|create_file|notebook/i, "Edit", ["file_path", "path", "notebook_path", "target_file"]],
  [/fetch|browse|http/i, "Fetch", ["url"]],
  [/read|view|cat/i, "Read", ["file_path", "path"]],
  [/search|grep|glob|find/i, "Search", ["pattern", "query"]],
];

export function wanted(ask: Approval): Wanted {
  const input = ask.input && typeof ask.input === "object" ? (ask.input as Record<string, unknown>) : {};
  const [, verb, keys] = VERBS.find(([words]) => words.test(ask.tool_name)) ?? [null, ask.tool_name, []];
  const all = [...keys, "command", "file_path", "path", "url"];
  const key = all.find((name) => name in input);
  const rest = Object.fromEntries(
    Object.entries(input).filter(([name]) => name !== key && name !== "description"),
  );
  return {
    verb: verb || "Use a tool",
    object: key ? textOf(input[key]) : null,
    rest: Object.keys(rest).length > 0 ? JSON.stringify(rest, null, 2) : null,
    reason: typeof input.description === "string" ? input.description : null,
  };
}

const textOf = (value: unknown) =>
  typeof value === "string" ? value : Array.isArray(value) ? value.join(" ") : JSON.stringify(value);

/** The asks that one answer may be given to: all that wait, when they are permissions for the same verb; else none. */
export function alike(asks: readonly Approval[]): readonly Approval[] {
  const [first] = asks;
  if (asks.length < 2 || !first) return [];
  const { verb } = wanted(first);
  return asks.every((ask) => ask.kind === "permission" && wanted(ask).verb === verb) ? asks : [];
}

type NewRule = SetRules["rules"][number];

export const isSame = (one: NewRule, other: NewRule) =>
  one.effect === other.effect && one.about === other.about && one.pattern === other.pattern;

/** The rules that would let this and the like of it through, the narrowest first, each with its words. */
export function rulesFor(ask: Approval): ReadonlyArray<{ words: string; rule: NewRule }> {
  const { verb, object } = wanted(ask);
  const offers: Array<{ words: string; rule: NewRule }> = [];
  const add = (words: string, about: NewRule["about"], pattern: string | null) =>
    offers.push({ words, rule: { effect: "allow", about, pattern } });
  // Only what a shell reads as one simple command is ever allowed by a rule: anything else would be asked again.
  if (verb === "Run" && object && !/[;&|$`<>\\\n=]/.test(object)) {
    const parts = object.trim().split(/\s+/);
    if (parts.length > 2) add(`exactly “${parts.join(" ")}” and what follows`, "command", parts.join(" "));
    if (parts.length > 1)
      add(`commands starting “${parts.slice(0, 2).join(" ")}”`, "command", parts.slice(0, 2).join(" "));
    else if (parts[0]) add(`commands starting “${parts[0]}”`, "command", parts[0]);
  }
  if (verb === "Read" || verb === "Search") add("everything that only reads", "read_only", null);
  add(`every use of ${ask.tool_name}`, "tool", ask.tool_name);
  return offers;
}
