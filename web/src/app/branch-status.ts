// How an attempt's branch stands to its target; asked again whenever the attempt changes.

import { useQuery } from "@tanstack/react-query";
import { get } from "../api/client";
import type { BranchStatus } from "../api/types";
import { keyOf } from "./queries";

export const useBranchStatus = (attempt: string) =>
  useQuery({
    queryKey: keyOf.attempt(attempt, "branch-status"),
    queryFn: ({ signal }) => get<BranchStatus>(`/task-attempts/${attempt}/branch-status`, signal),
  });
