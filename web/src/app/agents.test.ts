import { expect, test } from "vitest";
import type { AgentOnMachine, UserSystemInfo } from "../api/types";
import { likelyProfile } from "./agents";

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
