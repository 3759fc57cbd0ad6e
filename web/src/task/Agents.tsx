// The agents that a new task is started with: one, or several that each make an attempt of their own.

import { Button } from "../ui/Button";
import { AgentChoice } from "./AgentChoice";
import styles from "./Task.module.css";

const MOST = 5;

type Props = { profiles: readonly string[]; onChange: (profiles: readonly string[]) => void };

export function Agents({ profiles, onChange }: Props) {
  return (
    <div className={styles.agents}>
      {profiles.map((key, index) => (
        <AgentChoice
          key={index}
          label={index === 0 ? "Agent" : `Agent ${index + 1}`}
          value={key || null}
          onChange={(to) => onChange(profiles.with(index, to))}
          onRemove={profiles.length > 1 ? () => onChange(profiles.filter((_, i) => i !== index)) : undefined}
        />
      ))}
      {profiles.length < MOST && (
        <Button
          kind="quiet"
          size="small"
          icon="plus"
          onClick={() => onChange([...profiles, profiles.at(-1) ?? ""])}
        >
          Another agent
        </Button>
      )}
    </div>
  );
}
