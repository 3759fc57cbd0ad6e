// Answers that are asked for rather than told: kept for a while by what was asked, and asked again when an event says
// that they may have changed.

import { QueryClient } from "@tanstack/react-query";
import { Refused } from "../api/client";
import { hear } from "../api/world";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      // The client already sends again what may be sent again; a refusal is an answer.
      retry: false,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

/** Keys begin with what they belong to, so that an event about an attempt finds everything that was asked about it. */
export const keyOf = {
  attempt: (id: string, ...what: unknown[]) => ["attempt", id, ...what] as const,
  project: (id: string, ...what: unknown[]) => ["project", id, ...what] as const,
  settings: (...what: unknown[]) => ["settings", ...what] as const,
};

hear((operations) => {
  const attempts = new Set<string>();
  for (const { path, value } of operations) {
    const [, kind, id] = path.split("/");
    if (kind === "task_attempts" && id) attempts.add(id);
    if (kind === "execution_processes" && value && "task_attempt_id" in value && value.task_attempt_id)
      attempts.add(value.task_attempt_id);
  }
  for (const id of attempts) void queries.invalidateQueries({ queryKey: ["attempt", id] });
});

export const isAway = (error: unknown) => error instanceof Refused && error.isAway;
