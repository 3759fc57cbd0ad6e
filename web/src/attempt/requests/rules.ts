// Which requests one answer may be given to, and which rules would allow the like of one from now on.

import type { Approval, SetRules } from "../../api/types";
import { wanted } from "../../facts/wanted";
import { plainText } from "../../ui/Plain";

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
    offers.push({ words: plainText(words), rule: { effect: "allow", about, pattern } });
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
