// The settings of one project: its name, scripts, files to copy, base branch and rules; and its removal.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { get, post, put, remove, sentenceOf } from "../api/client";
import type { GitBranch, Project, UpdateProject } from "../api/types";
import { assume, useWorld } from "../api/world";
import { say, sayError } from "../app/notices";
import { keyOf } from "../app/queries";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Dialog";
import { Failed } from "../ui/Nothing";
import { counted } from "../ui/numbers";
import { Rules } from "./Rules";
import { CheckSetting, ChoiceSetting, TextSetting } from "./Setting";
import styles from "./Settings.module.css";

export function ProjectSettings({ id }: { id: string }) {
  const project = useWorld((world) => world.projects.get(id));
  if (!project) return null;
  const save = async (change: UpdateProject) => {
    assume("projects", id, await put<Project>(`/projects/${id}`, change));
  };
  const text = (key: "setup_script" | "dev_script" | "cleanup_script" | "copy_files") => ({
    value: project[key] ?? "",
    onSave: (value: string) => save({ [key]: value.trim() || null }),
  });
  return (
    <>
      <p>
        <code>{project.git_repo_path}</code>
      </p>
      <TextSetting
        label="Name"
        value={project.name}
        onSave={(name) =>
          name.trim() ? save({ name: name.trim() }) : Promise.reject(new Error("A project needs a name."))
        }
      />
      <BaseBranch project={project} onSave={(branch) => save({ default_base_branch: branch || null })} />
      <h2>Scripts</h2>
      <TextSetting
        label="Setup script"
        lines={3}
        placeholder="npm ci"
        help="Runs in each new worktree before the agent begins."
        {...text("setup_script")}
      />
      <TextSetting
        label="Dev server"
        placeholder='npm run dev -- --port "$FORGE_DEV_PORT"'
        help="How to look at the work in a browser. Its port is in $FORGE_DEV_PORT."
        {...text("dev_script")}
      />
      <TextSetting
        label="Cleanup script"
        lines={2}
        help="Runs after a turn that left commits."
        {...text("cleanup_script")}
      />
      <TextSetting
        label="Files to copy"
        placeholder=".env, config/local.json"
        help="Files that git ignores and each worktree needs, divided by commas."
        {...text("copy_files")}
      />
      <CheckSetting
        label="Let this repository's own filters run"
        help="Its git config may name programs that git runs on every file. Switch this on only for code you trust."
        value={project.trust_filters}
        onSave={(value) => save({ trust_filters: value })}
      />
      <Rules project={id} />
      <Remove project={project} />
    </>
  );
}

function BaseBranch({ project, onSave }: { project: Project; onSave: (branch: string) => Promise<unknown> }) {
  const { data, error, refetch } = useQuery({
    queryKey: keyOf.project(project.id, "branches"),
    queryFn: ({ signal }) => get<GitBranch[]>(`/projects/${project.id}/branches`, signal),
  });
  const current = data?.find((branch) => branch.is_current)?.name;
  const names = new Set([project.default_base_branch ?? "", ...(data ?? []).map((branch) => branch.name)]);
  names.delete("");
  return (
    <div>
      <ChoiceSetting
        label="Base branch"
        help="Where attempts begin and land, unless told otherwise."
        value={project.default_base_branch ?? ""}
        onSave={onSave}
        choices={[
          ["", `The branch that is checked out${current ? ` (${current} now)` : ""}`],
          ...[...names].map((name) => [name, name] as const),
        ]}
      />
      {error && !data && <Failed isLine what="Branches are" error={error} again={() => void refetch()} />}
    </div>
  );
}

function Remove({ project }: { project: Project }) {
  const [, go] = useLocation();
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const tasks = useWorld((world) => count(world.tasks.values(), project.id));
  const attempts = useWorld((world) => count(world.attempts.values(), project.id));
  const act = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await remove(`/projects/${project.id}`);
      go("/");
      say(`Removed ${project.name} from Forge`, {
        undo: () => void post(`/removed/${project.id}/recover`).catch(sayError),
      });
    } catch (error) {
      setProblem(sentenceOf(error));
      setBusy(false);
    }
  };
  return (
    <>
      <h2>Remove</h2>
      <div className={styles.line}>
        <Button kind="danger" onClick={() => setAsking(true)}>
          Remove {project.name}
        </Button>
        <span>Your code stays.</span>
      </div>
      {isAsking && (
        <Confirm
          title={`Remove ${project.name} from Forge?`}
          verb={`Remove ${project.name}`}
          isDestructive
          busy={isBusy && "Removing"}
          problem={problem}
          onConfirm={() => void act()}
          onClose={() => setAsking(false)}
        >
          Your code stays. {counted(tasks, "task")} and {counted(attempts, "branch", "branches")} go to the
          trash.
        </Confirm>
      )}
    </>
  );
}

const count = (things: Iterable<{ project_id: string }>, project: string) => {
  let found = 0;
  for (const thing of things) if (thing.project_id === project) found += 1;
  return found;
};
