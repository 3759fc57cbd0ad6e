// What is known about each turn of an agent besides its words: when, how long, what it cost, what it changed, and the
// snapshots of the files before and after it.

import { useQuery } from "@tanstack/react-query";
import { createContext, useMemo } from "react";
import { get } from "../../api/client";
import type { AttemptSnapshot, ExecutionProcess, Usage } from "../../api/types";
import { keyOf } from "../../app/queries";

export type TurnFacts = {
  startedAt: string | null;
  endedAt: string | null;
  costMicros: number | null;
  files: number | null;
  /** The files as they were before it; null when no snapshot holds that. */
  before: AttemptSnapshot | null;
  after: AttemptSnapshot | null;
};

export type Turns = {
  factsOf(run: string, ordinal: number | null): TurnFacts;
};

const UNKNOWN: TurnFacts = {
  startedAt: null,
  endedAt: null,
  costMicros: null,
  files: null,
  before: null,
  after: null,
};

export const TurnsHere = createContext<Turns>({ factsOf: () => UNKNOWN });

export const useRuns = (attempt: string) =>
  useQuery({
    queryKey: keyOf.attempt(attempt, "runs"),
    queryFn: ({ signal }) =>
      get<ExecutionProcess[]>(`/execution-processes?task_attempt_id=${attempt}`, signal),
  });

export const useSnapshots = (attempt: string) =>
  useQuery({
    queryKey: keyOf.attempt(attempt, "snapshots"),
    queryFn: ({ signal }) => get<AttemptSnapshot[]>(`/task-attempts/${attempt}/snapshots`, signal),
  });

export function useTurns(attempt: string): Turns {
  const { data: runs } = useRuns(attempt);
  const { data: snapshots } = useSnapshots(attempt);
  const { data: usage } = useQuery({
    queryKey: keyOf.attempt(attempt, "usage"),
    queryFn: ({ signal }) => get<Usage[]>(`/usage?task_attempt_id=${attempt}&by=turn`, signal),
  });
  return useMemo(() => turnsOf(runs ?? [], snapshots ?? [], usage ?? []), [runs, snapshots, usage]);
}

/** Lays runs, snapshots and usage over one another. Snapshots come newest first. */
export function turnsOf(
  runs: readonly ExecutionProcess[],
  snapshots: readonly AttemptSnapshot[],
  usage: readonly Usage[],
): Turns {
  const agentRuns = runs.filter((run) => run.run_reason === "codingagent" && !run.dropped);
  const taken = snapshots.filter((snapshot) => snapshot.why === "turn").toReversed();
  const cost = new Map(usage.map((used) => [used.key, used.cost_micros]));
  return {
    factsOf(id, ordinal) {
      const run = agentRuns.find((run) => run.id === id);
      if (!run || ordinal === null) return UNKNOWN;
      const own = taken.filter((snapshot) => snapshot.execution_process_id === id);
      const after = own[ordinal - 1] ?? null;
      // The turn before in the same run, else the newest from before the run.
      const before =
        own[Math.min(ordinal, own.length + 1) - 2] ??
        taken.findLast((it) => it.execution_process_id !== id && it.created_at <= run.started_at) ??
        null;
      const { added = 0, changed = 0, deleted = 0 } = after?.changes ?? {};
      return {
        startedAt: ordinal === 1 ? run.started_at : (own[ordinal - 2]?.created_at ?? null),
        endedAt: after?.created_at ?? null,
        costMicros: cost.get(`${id}#${ordinal}`) ?? null,
        files: after?.changes ? added + changed + deleted : null,
        before,
        after,
      };
    },
  };
}
