// The filter of the board: words that a title or prompt must have, and tokens such as `state:failed` or `age:>2d`.

import { agentWord } from "../facts/agents";
import { LOOKS } from "../facts/state";
import type { Card } from "./cards";

export type Filter = {
  words: readonly string[];
  agents: readonly string[];
  states: readonly string[];
  projects: readonly string[];
  has: readonly string[];
  /** In milliseconds: older than, younger than. */
  olderThan: number | null;
  youngerThan: number | null;
};

const LISTS = { agent: "agents", state: "states", project: "projects", has: "has" } as const;
const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** What `has:` knows. */
export const HAS = ["question", "changes", "conflict", "pr", "image", "attempts", "comments"] as const;

export const EMPTY: Filter = {
  words: [],
  agents: [],
  states: [],
  projects: [],
  has: [],
  olderThan: null,
  youngerThan: null,
};

export const isEmptyFilter = (filter: Filter) =>
  filter.words.length === 0 &&
  Object.values(LISTS).every((list) => filter[list].length === 0) &&
  filter.olderThan === null &&
  filter.youngerThan === null;

/** Reads what was typed. A token that is not understood is a word like any other, so nothing typed is ever ignored. */
export function readFilter(typed: string): Filter {
  const filter = { words: [], agents: [], states: [], projects: [], has: [] } as unknown as Record<
    string,
    string[]
  >;
  let olderThan: number | null = null;
  let youngerThan: number | null = null;
  for (const [, key, quoted, bare] of typed.matchAll(/(?:(\w+):)?(?:"([^"]*)"|(\S+))/g)) {
    const value = (quoted ?? bare ?? "").toLowerCase();
    const list = key && LISTS[key as keyof typeof LISTS];
    const age = key === "age" ? value.match(/^([<>])(\d+)([mhdw])$/) : null;
    if (age) {
      const span = Number(age[2]) * (UNITS[age[3] ?? ""] ?? 0);
      if (age[1] === ">") olderThan = span;
      else youngerThan = span;
    } else if (list && value) filter[list]?.push(value);
    // `state:` that is still being typed hides nothing.
    else if (!/^(agent|state|project|has|age):$/.test(value))
      filter.words?.push(key ? `${key.toLowerCase()}:${value}` : value);
  }
  return { ...(filter as unknown as Filter), olderThan, youngerThan };
}

/** Whether a card is wanted: every word and every kind of token must fit, of one kind any. */
export function matches(filter: Filter, card: Card, now: number): boolean {
  const { task, facts } = card;
  const any = (list: readonly string[], fits: (value: string) => boolean) =>
    list.length === 0 || list.some(fits);
  const text = `${task.title}\n${task.description ?? ""}`.toLowerCase();
  if (!filter.words.every((word) => text.includes(word))) return false;
  const state = LOOKS[facts.state].words;
  const agent = facts.attempt?.executor ?? "";
  const since = now - Date.parse(facts.since);
  return (
    any(
      filter.agents,
      (name) => agent !== "" && `${agent} ${agentWord(agent)}`.toLowerCase().includes(name),
    ) &&
    any(filter.states, (name) => state.includes(name) || facts.state.includes(name)) &&
    any(filter.projects, (name) => card.project.toLowerCase().includes(name)) &&
    filter.has.every((what) => hasIt(what, card)) &&
    (filter.olderThan === null || since > filter.olderThan) &&
    (filter.youngerThan === null || since < filter.youngerThan)
  );
}

function hasIt(what: string, { task, facts, attempts }: Card): boolean {
  switch (what) {
    case "question":
      return facts.ask !== null;
    case "changes":
      return (facts.attempt?.files_changed ?? 0) > 0;
    case "conflict":
      return facts.attempt?.is_conflicted === true;
    case "pr":
      return facts.attempt?.pull_request !== null && facts.attempt !== null;
    case "image":
      return /!\[[^\]]*\]\(/.test(task.description ?? "");
    case "attempts":
      return attempts > 1;
    case "comments":
      return (facts.attempt?.comments ?? 0) > 0;
    default:
      return false;
  }
}

/** The tokens that go on from the last word typed; each is the whole of what would then stand in the box. */
export function offers(
  typed: string,
  known: { agents: readonly string[]; projects: readonly string[] },
): string[] {
  const last = typed.match(/\S*$/)?.[0] ?? "";
  const before = typed.slice(0, typed.length - last.length);
  const [key, value] = last.includes(":") ? [last.split(":")[0], last.split(":")[1] ?? ""] : [last, null];
  const quote = (name: string) => (/\s/.test(name) ? `"${name}"` : name);
  const values: Record<string, readonly string[]> = {
    agent: known.agents.map((agent) => quote(agentWord(agent).toLowerCase())),
    state: ["asks", "running", "failed", "conflict", "review", "stopped", "limited", "wish"],
    project: known.projects.map((name) => quote(name.toLowerCase())),
    has: HAS,
    age: [">1d", ">2d", ">1w", "<1h"],
  };
  const tokens =
    value === null
      ? Object.keys(values)
          .filter((name) => name.startsWith(last) && (values[name]?.length ?? 0) > 0)
          .map((name) => `${name}:`)
      : (values[key ?? ""] ?? [])
          .filter((name) => name.startsWith(value) && name !== value)
          .map((name) => `${key}:${name} `);
  return tokens.slice(0, 8).map((token) => before + token);
}
