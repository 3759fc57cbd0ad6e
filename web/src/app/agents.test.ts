import { expect, test } from "vitest";
import type { AgentOnMachine, UserSystemInfo } from "../api/types";
import { forgetWish, likelyBase, likelyProfile, readyProfile, rememberWish } from "./agents";
import { preferences } from "./preferences";

const agent = (executor: string, change: Partial<AgentOnMachine>) =>
  ({
    executor,
    title: executor,
    install: "npm install it",
    installed: true,
    logged_in: null,
    ...change,
  }) as AgentOnMachine;

const about = (...agents: AgentOnMachine[]) =>
  ({
    agents,
    executors: Object.fromEntries(agents.map(({ executor }) => [executor, { GENIE: {}, PLAN: {} }])),
    config: { executor_profile: { executor: "CLAUDE_CODE", variant: null } },
  }) as unknown as UserSystemInfo;

const scripted = agent("SCRIPTED", {});
const codex = agent("CODEX", {});
const missing = agent("CLAUDE_CODE", { installed: false });

test("what the settings say is offered, and where it cannot start an agent that can", () => {
  expect(likelyProfile("p1", about(agent("CLAUDE_CODE", {}), codex, scripted))).toBe("CLAUDE_CODE");
  expect(likelyProfile("p1", about(missing, codex, scripted))).toBe("CODEX");
  expect(likelyProfile("p1", about(agent("CLAUDE_CODE", { logged_in: false }), codex))).toBe("CODEX");
});

test("the agent that only plays scripts stands in for nobody", () => {
  expect(likelyProfile("p1", about(missing, scripted))).toBe("CLAUDE_CODE");
});

test("a wish is started with what it was saved with, and only that one, until it has been started", async () => {
  rememberWish("t1", "CODEX:PLAN", "release");
  expect(likelyProfile("p1", about(missing, codex), "t1")).toBe("CODEX:PLAN");
  expect(await readyProfile("p1", "t1")).toBe("CODEX:PLAN");
  expect(likelyBase("p1", "t1")).toBe("release");
  expect(likelyProfile("p1", about(missing, codex), "t2")).toBe("CODEX");
  expect(likelyBase("p1", "t2")).toBe(null);
  forgetWish("t1");
  expect(likelyBase("p1", "t1")).toBe(null);
});

test("of more wishes than are kept the oldest are forgotten, and one without a choice is none", () => {
  for (let at = 1; at <= 205; at += 1) rememberWish(`wish-${at}`, "CODEX", undefined);
  rememberWish("plain", undefined, undefined);
  const kept = Object.keys(preferences().wishes);
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([200, "wish-6", "wish-205"]);
});
