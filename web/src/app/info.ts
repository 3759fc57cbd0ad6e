// What a client asks first: the settings, and which agents are on the server's machine.

import { useQuery } from "@tanstack/react-query";
import { get } from "../api/client";
import type { AgentOnMachine, UserSystemInfo } from "../api/types";
import { keyOf } from "./queries";

export const INFO = keyOf.settings("info");

export const infoQuery = {
  queryKey: INFO,
  queryFn: ({ signal }: { signal: AbortSignal }) => get<UserSystemInfo>("/info", signal),
};

export const useInfo = () => useQuery(infoQuery);

/** How ready an agent is, as one word. */
export type Readiness = "ready" | "not logged in" | "not installed" | "needs a command";

export function readiness(agent: AgentOnMachine): Readiness {
  if (agent.found === "no_command") return "needs a command";
  if (!agent.installed) return "not installed";
  return agent.logged_in === false ? "not logged in" : "ready";
}

/** What to type in a terminal to make it ready; null when there is nothing to type. */
export function remedyCommand(agent: AgentOnMachine): string | null {
  switch (readiness(agent)) {
    case "not installed":
      return agent.install;
    case "not logged in":
      return agent.log_in;
    default:
      return null;
  }
}
