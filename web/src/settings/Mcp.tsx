// MCP servers of an agent, in the agent's own settings file: those to choose from, and all of them as JSON.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get, post, sentenceOf } from "../api/client";
import type { GetMcpServerResponse } from "../api/types";
import { useInfo } from "../app/info";
import { keyOf, queries } from "../app/queries";
import { Button } from "../ui/Button";
import { SelectField } from "../ui/Field";
import { Failed, Loading } from "../ui/Nothing";
import { JsonEditor } from "./JsonEditor";
import styles from "./Settings.module.css";

const NONE = ["SCRIPTED", "COMMAND", "ACP"];

export function Mcp() {
  const { data: info, error, refetch } = useInfo();
  const [chosen, setChosen] = useState<string | null>(null);
  const agents = (info?.agents ?? []).filter(({ executor }) => !NONE.includes(executor));
  const agent = chosen ?? agents.find((it) => it.installed)?.executor ?? "CLAUDE_CODE";
  if (!info && error) return <Failed what="Agents are" error={error} again={() => void refetch()} />;
  if (!info) return <Loading what="the agents" />;
  return (
    <>
      <SelectField label="Agent" value={agent} onChange={(event) => setChosen(event.target.value)}>
        {agents.map(({ executor, title }) => (
          <option key={executor} value={executor}>
            {title}
          </option>
        ))}
      </SelectField>
      <Servers key={agent} agent={agent} />
    </>
  );
}

function Servers({ agent }: { agent: string }) {
  const key = keyOf.settings("mcp", agent);
  const path = `/mcp-config?executor=${agent}`;
  const { data, error, refetch } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => get<GetMcpServerResponse>(path, signal),
  });
  if (error) return <Failed what="MCP servers are" error={error} again={() => void refetch()} />;
  if (!data) return <Loading what="the MCP servers" />;
  const { servers } = data.mcp_config;
  const save = async (servers: unknown) => {
    await post(path, { servers });
    await queries.invalidateQueries({ queryKey: key });
  };
  return (
    <>
      <p>
        Kept in <code>{data.config_path}</code>, the agent's own file. Nothing else in it is touched.
      </p>
      <Ready data={data} onAdd={(name, server) => save({ ...servers, [name]: server })} />
      <JsonEditor label="MCP servers as JSON" text={JSON.stringify(servers, null, 2)} onSave={save} />
    </>
  );
}

type ReadyProps = { data: GetMcpServerResponse; onAdd: (name: string, server: unknown) => Promise<unknown> };

/** Servers that are ready to be added. */
function Ready({ data: { mcp_config }, onAdd }: ReadyProps) {
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const { meta, ...ready } = mcp_config.preconfigured as Record<string, unknown>;
  const about = (meta ?? {}) as Record<string, { name?: string; description?: string } | undefined>;
  const add = async (name: string) => {
    setBusy(name);
    setProblem(null);
    await onAdd(name, ready[name]).catch((error) => setProblem(sentenceOf(error)));
    setBusy(null);
  };
  return (
    <>
      <ul className={styles.agents} aria-label="Servers to add">
        {Object.keys(ready).map((name) => {
          const title = about[name]?.name ?? name;
          return (
            <li key={name} className={styles.agent} aria-label={title}>
              <b>{title}</b>
              <span>{about[name]?.description}</span>
              {name in mcp_config.servers ? (
                <span>added</span>
              ) : (
                <Button
                  size="small"
                  label={`Add ${title}`}
                  busy={busy === name && "Adding"}
                  onClick={() => void add(name)}
                >
                  Add
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
    </>
  );
}
