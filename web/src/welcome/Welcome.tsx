// The first page of a Forge without projects: what it is, which agents are here, and the ways to begin.

import { useState } from "react";
import { Link, useLocation } from "wouter";
import { post, sentenceOf } from "../api/client";
import type { Project } from "../api/types";
import { assume } from "../api/world";
import { copy } from "../app/copy";
import { useRepositories } from "../app/folders";
import { readiness, useInfo } from "../app/info";
import { openOverlay } from "../app/overlays";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import styles from "./Welcome.module.css";

export function Welcome() {
  return (
    <div className={styles.page}>
      <div className={styles.welcome}>
        <h1>Forge runs coding agents on your code, each on its own branch.</h1>
        <p className={styles.lead}>Nothing leaves this machine but what your agents send.</p>
        <Agents />
        <ul className={styles.ways}>
          <Demo />
          <li>
            <Button onClick={() => openOverlay({ name: "add project" })}>Add a project</Button>
            <p>A folder with git on this machine. Your checkout is not touched: each attempt gets its own.</p>
            <Suggestions />
          </li>
          <Import />
        </ul>
        <p className={styles.risk}>
          Agents run commands as you. Some profiles ask first, others do not; the choice stands beside every
          Start.
        </p>
      </div>
    </div>
  );
}

const IMPORT = "forge import vibe-kanban";

/** Whoever has a board elsewhere brings it along. */
function Import() {
  return (
    <li>
      <Button icon="copy" onClick={() => void copy(IMPORT, "The command")}>
        Copy command
      </Button>
      <p>
        Your board is in vibe-kanban or Automagik Forge? <code>{IMPORT}</code> brings it here and leaves the
        old one as it is; docs/moving-in.md says how.
      </p>
    </li>
  );
}

/** The repositories that were changed last, each a click away from being a project. */
function Suggestions() {
  const { data } = useRepositories();
  if (!data || data.length === 0) return null;
  return (
    <ul className={styles.suggestions} aria-label="Changed last">
      {data.slice(0, 3).map(({ name, path }) => (
        <li key={path}>
          <Button
            size="small"
            icon="fork"
            title={path}
            onClick={() => openOverlay({ name: "add project", path })}
          >
            {name}
          </Button>
        </li>
      ))}
    </ul>
  );
}

function Agents() {
  const { data, error } = useInfo();
  if (error) return <p role="alert">Agents not shown: {error.message}</p>;
  if (!data) return <p className={styles.agents}>Looking for agents…</p>;
  // The scripted one is ours, and an agent without a command is none yet.
  const real = data.agents.filter((agent) => agent.found !== "built_in" && agent.found !== "no_command");
  const here = real.filter((agent) => agent.installed);
  if (here.length === 0)
    return (
      <p>
        No coding agent found. Install one, or try the demo. <Link href="/settings/agents">Agents</Link>
      </p>
    );
  return (
    <div className={styles.agents}>
      <h2>Agents found</h2>
      <ul>
        {here.map((agent) => (
          <li key={agent.executor} data-ready={readiness(agent) === "ready" || undefined}>
            <Icon name={readiness(agent) === "ready" ? "done" : "conflict"} size={14} />
            {agent.title} {agent.version}
            {readiness(agent) === "not logged in" && <small>not logged in</small>}
          </li>
        ))}
      </ul>
      {real.length > here.length && <small>{real.length - here.length} others are not installed.</small>}
    </div>
  );
}

function Demo() {
  const [, go] = useLocation();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const start = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const project = await post<Project>("/demo");
      assume("projects", project.id, project);
      go(`/p/${project.id}`);
    } catch (error) {
      setProblem(sentenceOf(error));
      setBusy(false);
    }
  };
  return (
    <li>
      <Button kind="primary" busy={isBusy && "Making the demo"} onClick={start}>
        Try the demo
      </Button>
      <p>A small project and a scripted agent. 30 seconds, no account.</p>
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
    </li>
  );
}
