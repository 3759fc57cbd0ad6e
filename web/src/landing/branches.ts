// The branches that an attempt may land on: those of its project without its own, and the one that is chosen.

import { useQuery } from "@tanstack/react-query";
import { get } from "../api/client";
import type { GitBranch, TaskAttempt } from "../api/types";
import { keyOf } from "../app/queries";

export function useTargets({ project_id, branch }: TaskAttempt, chosen: string) {
  const { data, error, refetch } = useQuery({
    queryKey: keyOf.project(project_id, "branches"),
    queryFn: ({ signal }) => get<GitBranch[]>(`/projects/${project_id}/branches`, signal),
  });
  const names = (data ?? []).map(({ name }) => name).filter((name) => name !== branch);
  if (!names.includes(chosen)) names.unshift(chosen);
  return { names, missing: error && !data ? { error, again: () => void refetch() } : null };
}
