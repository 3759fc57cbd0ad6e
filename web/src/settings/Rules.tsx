// The rules of a project: what its agents may do without asking, and what never. The first that fits counts.

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { get, put } from "../api/client";
import type { Rule, RuleAbout, RuleEffect } from "../api/types";
import { keyOf, queries } from "../app/queries";
import { Button } from "../ui/Button";
import { SelectField, TextField } from "../ui/Field";
import { Failed, Loading } from "../ui/Nothing";
import styles from "./Settings.module.css";
import { useSaving } from "./saving";

type Draft = { effect: RuleEffect; about: RuleAbout; pattern: string | null };

export function Rules({ project }: { project: string }) {
  const key = keyOf.project(project, "rules");
  const { data, error, refetch } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => get<Rule[]>(`/projects/${project}/rules`, signal),
  });
  const { isBusy, saved, problem, commit } = useSaving(async (rules: Draft[]) => {
    queries.setQueryData(key, await put<Rule[]>(`/projects/${project}/rules`, { rules }));
  });
  if (error) return <Failed what="Rules are" error={error} again={() => void refetch()} />;
  if (!data) return <Loading what="the rules" />;
  const rules: Draft[] = data.map(({ effect, about, pattern }) => ({ effect, about, pattern }));
  const moved = (from: number, to: number) => {
    const next = [...rules];
    next.splice(to, 0, ...next.splice(from, 1));
    return next;
  };
  return (
    <>
      <h2>Rules</h2>
      <p>
        What agents ask permission for is answered by the first rule that fits; where none fits, you are
        asked.
      </p>
      {data.length > 0 && (
        <ol className={styles.agents} aria-label="Rules">
          {data.map((rule, at) => (
            <li key={`${at}:${rule.text}`} className={styles.agent} aria-label={rule.text}>
              <b>{at + 1}</b>
              <span>{rule.text}</span>
              <span>
                {at > 0 && (
                  <Button
                    size="small"
                    kind="quiet"
                    label={`Move up: ${rule.text}`}
                    onClick={() => void commit(moved(at, at - 1))}
                  >
                    Up
                  </Button>
                )}
                <Button
                  size="small"
                  kind="quiet"
                  label={`Delete: ${rule.text}`}
                  onClick={() => void commit(rules.filter((_, other) => other !== at))}
                >
                  Delete
                </Button>
              </span>
            </li>
          ))}
        </ol>
      )}
      <NewRule isBusy={isBusy} onAdd={(rule) => commit([...rules, rule])} />
      {saved && (
        <span role="status" className={styles.saved}>
          Saved
        </span>
      )}
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
    </>
  );
}

function NewRule({ isBusy, onAdd }: { isBusy: boolean; onAdd: (rule: Draft) => Promise<void> }) {
  const [effect, setEffect] = useState<RuleEffect>("allow");
  const [about, setAbout] = useState<RuleAbout>("command");
  const [pattern, setPattern] = useState("");
  const needsWords = about !== "read_only";
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (needsWords && !pattern.trim()) return;
    void onAdd({ effect, about, pattern: needsWords ? pattern.trim() : null }).then(() => setPattern(""));
  };
  return (
    <form className={styles.rule} onSubmit={add} aria-label="New rule">
      <SelectField
        label="Effect"
        value={effect}
        onChange={(event) => setEffect(event.target.value as RuleEffect)}
      >
        <option value="allow">Allow</option>
        <option value="deny">Deny</option>
        <option value="ask">Ask me</option>
      </SelectField>
      <SelectField
        label="About"
        value={about}
        onChange={(event) => setAbout(event.target.value as RuleAbout)}
      >
        <option value="command">command</option>
        <option value="tool">tool</option>
        <option value="read_only">reading files</option>
      </SelectField>
      {needsWords && (
        <TextField
          label={about === "command" ? "First words of the command" : "Name of the tool"}
          placeholder={about === "command" ? "npm test" : "mcp__github__*"}
          value={pattern}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setPattern(event.target.value)}
        />
      )}
      <Button
        submit
        busy={isBusy && "Saving"}
        disabled={needsWords && !pattern.trim() && "Say first what it is about."}
      >
        Add rule
      </Button>
    </form>
  );
}
