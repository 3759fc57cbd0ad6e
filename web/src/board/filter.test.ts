import { expect, test } from "vitest";
import { ask, attempt, task, worldOf } from "../facts/sample";
import { cardOf } from "./cards";
import { isEmptyFilter, matches, offers, readFilter } from "./filter";

const NOON = Date.parse("2026-01-01T12:00:00Z");
const DAY = 86_400_000;

const card = (words: Parameters<typeof task>[0], more: Parameters<typeof worldOf>[0] = {}) => {
  const found = cardOf(worldOf({ tasks: [task(words)], ...more }), "t1");
  if (!found) throw new Error("no card");
  return found;
};
const fits = (typed: string, it = card({}), now = NOON) => matches(readFilter(typed), it, now);

test("words are looked for in the title and the prompt, all of them, in any case", () => {
  const it = card({ title: "Add a rate limiter", description: "for the public API" });
  expect(fits("RATE public", it)).toBe(true);
  expect(fits("rate private", it)).toBe(false);
  expect(fits('"rate limiter"', it)).toBe(true);
  expect(fits("", it)).toBe(true);
});

test("tokens ask for states, agents and what a task has; of one kind any, of several all", () => {
  const failed = card({}, { attempts: [attempt({ state: "failed", executor: "CLAUDE_CODE" })] });
  expect(fits("state:failed", failed)).toBe(true);
  expect(fits("state:failed state:running", failed)).toBe(true);
  expect(fits("state:running", failed)).toBe(false);
  expect(fits("agent:claude state:failed", failed)).toBe(true);
  expect(fits("agent:codex", failed)).toBe(false);
  expect(fits("agent:codex", card({ status: "todo" }))).toBe(false);
  const asks = card({}, { attempts: [attempt({ state: "waiting" })], asks: [ask()] });
  expect(fits("has:question", asks)).toBe(true);
  expect(fits("has:question", failed)).toBe(false);
});

test("an age is compared with when the state began", () => {
  const old = card({}, { attempts: [attempt()] });
  expect(fits("age:>2d", old, NOON + 3 * DAY)).toBe(true);
  expect(fits("age:>2d", old, NOON + DAY)).toBe(false);
  expect(fits("age:<1h", old, NOON + 60_000)).toBe(true);
});

test("a token that is still being typed hides nothing, and one that is not understood is a word", () => {
  expect(fits("state:")).toBe(true);
  expect(isEmptyFilter(readFilter("state:"))).toBe(true);
  expect(fits("colour:red")).toBe(false);
  expect(fits("age:soon")).toBe(false);
});

test("tokens are offered as they are typed", () => {
  const known = { agents: ["CLAUDE_CODE"], projects: ["shop api"] };
  expect(offers("sta", known)).toEqual(["state:"]);
  expect(offers("orders state:fa", known)).toEqual(["orders state:failed "]);
  expect(offers("agent:", known)).toEqual(["agent:claude "]);
  expect(offers("project:", known)).toEqual(['project:"shop api" ']);
  expect(readFilter('project:"shop api"').projects).toEqual(["shop api"]);
});
