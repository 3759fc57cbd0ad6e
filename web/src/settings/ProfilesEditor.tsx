// Profiles of the agents, as a form of one variant or as the whole JSON.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get, put, sentenceOf } from "../api/client";
import type { AgentOnMachine, ProfilesContent } from "../api/types";
import { INFO } from "../app/info";
import { keyOf, queries } from "../app/queries";
import { Button } from "../ui/Button";
import { SelectField, TextField } from "../ui/Field";
import { Failed, Loading } from "../ui/Nothing";
import { JsonEditor } from "./JsonEditor";
import { ProfileForm } from "./ProfileForm";
import { type Profiles, variantName, withVariant } from "./profile";
import styles from "./Settings.module.css";

const PROFILES = keyOf.settings("profiles");

async function saveProfiles(profiles: unknown) {
  await put("/profiles", profiles);
  await queries.invalidateQueries({ queryKey: PROFILES });
  void queries.invalidateQueries({ queryKey: INFO });
}

export function ProfilesEditor({ agents }: { agents: readonly AgentOnMachine[] }) {
  const [view, setView] = useState<"form" | "json">("form");
  const { data, error, refetch } = useQuery({
    queryKey: PROFILES,
    queryFn: ({ signal }) => get<ProfilesContent>("/profiles", signal),
  });
  return (
    <>
      <h2>Profiles</h2>
      <fieldset className={styles.tabs}>
        <legend className="unseen">Edit as</legend>
        {(["form", "json"] as const).map((it) => (
          <label key={it}>
            <input type="radio" name="view" checked={view === it} onChange={() => setView(it)} />{" "}
            {it === "form" ? "Form" : "JSON"}
          </label>
        ))}
      </fieldset>
      {error ? (
        <Failed what="Profiles are" error={error} again={() => void refetch()} />
      ) : !data ? (
        <Loading what="the profiles" />
      ) : view === "json" ? (
        <>
          <p>
            Everything, built-in and yours. Only what differs from the built-in is kept, in{" "}
            <code>{data.path}</code>
          </p>
          <JsonEditor label="Profiles as JSON" text={data.content} onSave={saveProfiles} />
        </>
      ) : (
        <Variants profiles={JSON.parse(data.content) as Profiles} agents={agents} />
      )}
    </>
  );
}

type VariantsProps = { profiles: Profiles; agents: readonly AgentOnMachine[] };

function Variants({ profiles, agents }: VariantsProps) {
  const first = agents.find((agent) => agent.installed && agent.found !== "built_in") ?? agents[0];
  const [agent, setAgent] = useState(first?.executor ?? "");
  const [chosen, setChosen] = useState<string | null>(null);
  const variants = Object.keys(profiles.executors[agent] ?? {});
  const variant = variants.find((it) => it === chosen) ?? variants[0];
  const path = agents.find((it) => it.executor === agent)?.path;
  return (
    <>
      <div className={styles.line}>
        <SelectField label="Agent" value={agent} onChange={(event) => setAgent(event.target.value)}>
          {agents.map(({ executor, title }) => (
            <option key={executor} value={executor}>
              {title}
            </option>
          ))}
        </SelectField>
        <SelectField label="Profile" value={variant} onChange={(event) => setChosen(event.target.value)}>
          {variants.map((it) => (
            <option key={it}>{it}</option>
          ))}
        </SelectField>
      </div>
      {path && (
        <p>
          Program: <code>{path}</code>
        </p>
      )}
      {variant && (
        <ProfileForm
          key={`${agent}:${variant}`}
          profiles={profiles}
          agent={agent}
          variant={variant}
          onSave={saveProfiles}
        />
      )}
      {variant && <NewOrGone profiles={profiles} agent={agent} variant={variant} onChosen={setChosen} />}
    </>
  );
}

type ChangeProps = {
  profiles: Profiles;
  agent: string;
  variant: string;
  onChosen: (variant: string | null) => void;
};

/** A copy of a profile under another name, or its end. */
function NewOrGone({ profiles, agent, variant, onChosen }: ChangeProps) {
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState<"Adding" | "Deleting" | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const name = variantName(typed);
  const change = async (word: "Adding" | "Deleting", next: Profiles, chosen: string | null) => {
    setBusy(word);
    setProblem(null);
    try {
      await saveProfiles(next);
      onChosen(chosen);
      setTyped("");
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    setBusy(null);
  };
  const settings = profiles.executors[agent]?.[variant]?.[agent] ?? {};
  const isTaken = profiles.executors[agent]?.[name] !== undefined;
  return (
    <div className={styles.line}>
      <TextField
        label="New profile"
        isLabelHidden
        placeholder={`A copy of ${variant}, named…`}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <Button
        busy={busy === "Adding" && busy}
        disabled={!name ? "It needs a name." : isTaken && `${name} is there already.`}
        onClick={() => void change("Adding", withVariant(profiles, agent, name, settings), name)}
      >
        Add profile
      </Button>
      <Button
        busy={busy === "Deleting" && busy}
        onClick={() => void change("Deleting", withVariant(profiles, agent, variant, null), null)}
      >
        Delete {variant}
      </Button>
      {problem && (
        <span role="alert" className={styles.problem}>
          {problem}
        </span>
      )}
    </div>
  );
}
