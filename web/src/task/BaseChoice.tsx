// The choice of the branch that an attempt begins on and lands on.

import { useQuery } from "@tanstack/react-query";
import { get } from "../api/client";
import type { GitBranch } from "../api/types";
import { useWorld } from "../api/world";
import { keyOf } from "../app/queries";
import { SelectField } from "../ui/Field";
import { Failed } from "../ui/Nothing";

type Props = { project: string; value: string | null; onChange: (branch: string | null) => void };

export function BaseChoice({ project, value, onChange }: Props) {
  const usual = useWorld((world) => world.projects.get(project)?.default_base_branch ?? null);
  const {
    data: branches,
    error,
    refetch,
  } = useQuery({
    queryKey: keyOf.project(project, "branches"),
    queryFn: ({ signal }) => get<GitBranch[]>(`/projects/${project}/branches`, signal),
    staleTime: 10_000,
  });
  const current = branches?.find((branch) => branch.is_current)?.name;
  const chosen = value ?? usual ?? current ?? "";
  const names = branches?.map(({ name }) => name) ?? [];
  return (
    <div>
      <SelectField
        label="Base branch"
        value={chosen}
        onChange={(event) => onChange(event.target.value || null)}
      >
        {!names.includes(chosen) && <option value={chosen}>{chosen || "The current branch"}</option>}
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </SelectField>
      {error && !branches && <Failed isLine what="Branches are" error={error} again={() => void refetch()} />}
    </div>
  );
}
