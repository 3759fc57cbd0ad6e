// Which agents there are, which of them can start now, and which one a project's next attempt is started with.

import { get } from "../api/client";
import type { AgentOnMachine, UserSystemInfo } from "../api/types";
import { world } from "../api/world";
import { agentWord, profileKey, profileOf } from "../facts/agents";
import { INFO, readiness } from "./info";
import { prefer, preferences } from "./preferences";
import { queries } from "./queries";

/** Why an agent cannot be started, in a sentence; null when it can. */
export function whyNotReady(agent: AgentOnMachine | undefined): string | null {
  if (!agent) return null;
  const name = agent.title || agentWord(agent.executor);
  switch (readiness(agent)) {
    case "ready":
      return null;
    case "needs a command":
      return `${name} has no command. Name one in its profile, in Settings.`;
    case "not installed":
      return `${name} is not installed. ${agent.install}`;
    case "not logged in":
      return `${name} is not logged in. ${agent.log_in ? `Run \`${agent.log_in}\` in a terminal, then check again.` : ""}`;
  }
}

/** Why one of some profiles cannot be started; null when all can. */
export const whyNotAll = (profiles: readonly string[], about: UserSystemInfo | undefined): string | null =>
  profiles
    .map((key) => whyNotReady(about?.agents.find(({ executor }) => executor === profileOf(key).executor)))
    .find((why) => why !== null) ?? null;

/** The profiles that can be chosen, agents that are ready first. */
export function profilesOf(
  about: UserSystemInfo,
): Array<{ agent: AgentOnMachine | undefined; executor: string; keys: string[] }> {
  const agents = new Map(about.agents.map((agent) => [agent.executor, agent]));
  return Object.entries(about.executors)
    .map(([executor, variants]) => ({
      executor,
      agent: agents.get(executor),
      keys: Object.keys(variants as object)
        .sort((a, b) => Number(b === "GENIE") - Number(a === "GENIE") || a.localeCompare(b))
        .map((variant) => profileKey({ executor, variant })),
    }))
    .sort((a, b) => rank(a.agent) - rank(b.agent) || a.executor.localeCompare(b.executor));
}

// The one that only plays scripts is for trying things out, so it comes after the real ones.
const rank = (agent: AgentOnMachine | undefined) =>
  whyNotReady(agent) !== null ? 2 : agent?.executor === "SCRIPTED" ? 1 : 0;

/** What the settings say that tasks are started with. */
function settledProfile(about: UserSystemInfo): { key: string; why: string | null } {
  const { executor, variant } = about.config.executor_profile;
  const agent = about.agents.find((it) => it.executor === executor);
  return { key: profileKey({ executor, variant: variant ?? null }), why: whyNotReady(agent) };
}

/**
 * What is offered for a project's tasks: what the wish was saved with, else what was used last, else what the settings
 * say. Where that cannot start, an agent that can is offered instead; one that only plays scripts is nobody's stand-in.
 */
export function likelyProfile(
  project: string | null,
  about: UserSystemInfo | undefined,
  task?: string,
): string | null {
  const used = wishOf(task)?.profile ?? (project ? preferences().lastStart[project]?.profile : undefined);
  if (used) return used;
  if (!about) return null;
  const { key, why } = settledProfile(about);
  const [first] = profilesOf(about);
  return why !== null && first?.agent && rank(first.agent) === 0 ? (first.keys[0] ?? key) : key;
}

/** The same, when it has to be known now: whoever is quicker than the list of agents waits for it. */
export const usualProfile = async (project: string): Promise<string | null> =>
  likelyProfile(project, undefined) ?? likelyProfile(project, await aboutAgents());

export const aboutAgents = () =>
  queries.ensureQueryData({ queryKey: INFO, queryFn: () => get<UserSystemInfo>("/info") });

/** What a project's tasks are started with unasked: nothing takes the place of what cannot, the person chooses. */
export async function readyProfile(project: string, task: string): Promise<string | null> {
  const used = wishOf(task)?.profile ?? preferences().lastStart[project]?.profile;
  if (used) return used;
  const { key, why } = settledProfile(await aboutAgents());
  return why === null ? key : null;
}

/** The branch that a project's attempts begin on, where something is known; null leaves it to the server. */
export const likelyBase = (project: string, task?: string): string | null =>
  wishOf(task)?.base ??
  preferences().lastStart[project]?.base ??
  world().projects.get(project)?.default_base_branch ??
  null;

export function rememberStart(project: string, profile: string, base: string | null) {
  prefer({
    lastStart: { ...preferences().lastStart, [project]: base ? { profile, base } : { profile } },
  });
}

const wishOf = (task: string | undefined) => (task ? preferences().wishes[task] : undefined);

/** More wishes than anybody has an agent in mind for; the oldest go first. */
const MOST_WISHES = 200;

/** Keeps what was chosen for a wish until it is started. */
export function rememberWish(task: string, profile: string | undefined, base: string | undefined) {
  if (!profile && !base) return;
  const { isKnown, tasks } = world();
  const kept = Object.entries(preferences().wishes).filter(
    // The newest may have been saved a moment ago, before the world has heard of it.
    ([id], at, all) => id !== task && (!isKnown || tasks.has(id) || at === all.length - 1),
  );
  prefer({ wishes: Object.fromEntries([...kept, [task, { profile, base }] as const].slice(-MOST_WISHES)) });
}

export function forgetWish(task: string) {
  const { [task]: started, ...wishes } = preferences().wishes;
  if (started) prefer({ wishes });
}
