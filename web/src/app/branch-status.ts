// How an attempt's branch stands to its target; asked again whenever the attempt changes, and now and then, for what
// people do with git in the worktree or on the target tells nobody.

import { useQuery } from "@tanstack/react-query";
import { get } from "../api/client";
import type { BranchStatus } from "../api/types";
import { keyOf } from "./queries";

// Somebody who resolves a conflict in an editor looks here next.
const OFTEN = 3_000;
const SOMETIMES = 15_000;

export const useBranchStatus = (attempt: string) =>
  useQuery({
    queryKey: keyOf.attempt(attempt, "branch-status"),
    queryFn: ({ signal }) => get<BranchStatus>(`/task-attempts/${attempt}/branch-status`, signal),
    refetchOnWindowFocus: "always",
    // What was never told is asked for by hand: each try would take its refusal, and the button beside it, away.
    refetchInterval: ({ state }) => (state.data ? (state.data.conflict_op ? OFTEN : SOMETIMES) : false),
  });
