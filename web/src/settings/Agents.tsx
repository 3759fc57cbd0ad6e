// The agents of the server's machine: version, login, what to type to make one ready; then the usual one, and profiles.

import { useState } from "react";
import type { AgentOnMachine, Config } from "../api/types";
import { readiness, remedyCommand, useInfo } from "../app/info";
import { sayError } from "../app/notices";
import { profileWords } from "../facts/agents";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { ProfilesEditor } from "./ProfilesEditor";
import { CheckSetting, ChoiceSetting, TextSetting } from "./Setting";
import styles from "./Settings.module.css";
import { saveConfig } from "./saving";
import { WithConfig } from "./WithConfig";

export function Agents() {
  const { isFetching, refetch } = useInfo();
  return (
    <WithConfig>
      {(config, { agents, executors }) => (
        <>
          <div className={styles.line}>
            <Button busy={isFetching && "Checking"} onClick={() => void refetch()}>
              Check again
            </Button>
            <span>Nothing is started to find out.</span>
          </div>
          <ul className={styles.agents} aria-label="Agents">
            {[...agents]
              .sort((a, b) => Number(b.installed) - Number(a.installed) || a.title.localeCompare(b.title))
              .map((agent) => (
                <Agent key={agent.executor} agent={agent} />
              ))}
          </ul>
          <ChoiceSetting
            label="Agent for new tasks"
            help="Until a project has had another one."
            value={keyOf(config.executor_profile)}
            onSave={(value) => saveConfig({ executor_profile: profileOf(value) })}
            choices={choices(executors, config)}
          />
          <Limits config={config} />
          <ProfilesEditor agents={agents} />
        </>
      )}
    </WithConfig>
  );
}

function Agent({ agent }: { agent: AgentOnMachine }) {
  const state = readiness(agent);
  const command = remedyCommand(agent);
  return (
    <li
      className={`${styles.agent} ${styles.machine}`}
      aria-label={`${agent.title}, ${state}`}
      data-ready={state === "ready" || undefined}
    >
      <Icon name={state === "ready" ? "done" : state === "not logged in" ? "conflict" : "close"} size={14} />
      <b>{agent.title}</b>
      <span>{[agent.version, wordsOf(agent), !agent.tried && "untried"].filter(Boolean).join(" · ")}</span>
      {command && (
        <>
          <code>{command}</code>
          <CopyButton text={command} about={agent.title} />
        </>
      )}
    </li>
  );
}

function wordsOf(agent: AgentOnMachine) {
  const state = readiness(agent);
  if (state !== "ready") return state;
  if (agent.found === "built_in") return "comes with Forge";
  return agent.logged_in ? "logged in" : "ready";
}

function CopyButton({ text, about }: { text: string; about: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <Button
      size="small"
      icon={isCopied ? "done" : "copy"}
      label={`Copy the command for ${about}`}
      onClick={() => void copy(text).then(() => setCopied(true), sayError)}
    >
      {isCopied ? "Copied" : "Copy"}
    </Button>
  );
}

async function copy(text: string) {
  if (!navigator.clipboard) throw new Error("This browser lets a page copy only over TLS or on localhost.");
  await navigator.clipboard.writeText(text);
}

function Limits({ config: { limits, agents } }: { config: Config }) {
  const number = (text: string) => {
    if (text.trim() === "") return null;
    const value = Number(text);
    if (!Number.isInteger(value) || value < 0)
      throw new Error(`It must be a whole number, and ${text} is none.`);
    return value;
  };
  return (
    <>
      <h2>How much at once</h2>
      <TextSetting
        label="Agents at once"
        help="Further ones wait in a line. Empty: no limit."
        type="number"
        value={limits.max_running?.toString() ?? ""}
        onSave={async (text) => saveConfig({ limits: { max_running: number(text) } })}
      />
      <TextSetting
        label="Agents at once in one project"
        help="Empty: no limit."
        type="number"
        value={limits.max_running_per_project?.toString() ?? ""}
        onSave={async (text) => saveConfig({ limits: { max_running_per_project: number(text) } })}
      />
      <CheckSetting
        label="Go on by itself when a usage limit is over"
        value={agents.resume_when_limited}
        onSave={(value) => saveConfig({ agents: { resume_when_limited: value } })}
      />
    </>
  );
}

type Profile = Config["executor_profile"];

const keyOf = ({ executor, variant }: Profile) => `${executor}:${variant ?? ""}`;

function profileOf(key: string): Profile {
  const [executor = "", variant] = key.split(":");
  return { executor, variant: variant || null };
}

function choices(executors: Record<string, unknown>, { executor_profile }: Config) {
  const all = Object.entries(executors).flatMap(([executor, variants]) =>
    Object.keys((variants ?? {}) as object).map((variant): Profile => ({ executor, variant })),
  );
  const keys = new Map(all.map((profile) => [keyOf(profile), profileWords(profile)]));
  if (!keys.has(keyOf(executor_profile))) keys.set(keyOf(executor_profile), profileWords(executor_profile));
  return [...keys].sort(([, a], [, b]) => a.localeCompare(b));
}
