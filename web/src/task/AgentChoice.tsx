// The choice of an agent and its profile, with what stands in the way of starting it.

import { profilesOf, whyNotReady } from "../app/agents";
import { useInfo } from "../app/info";
import { profileInFull, profileOf } from "../facts/agents";
import { Button } from "../ui/Button";
import { SelectField } from "../ui/Field";
import { Failed } from "../ui/Nothing";
import styles from "./Task.module.css";

type Props = {
  label?: string;
  value: string | null;
  onChange: (key: string) => void;
  onRemove?: () => void;
  /** What Enter does: the choice is made with the arrows, and then it starts. */
  onEnter?: () => void;
};

export function AgentChoice({ label = "Agent", value, onChange, onRemove, onEnter }: Props) {
  const { data: info, error, isFetching, refetch } = useInfo();
  const groups = info ? profilesOf(info) : [];
  const isListed = groups.some(({ keys }) => value !== null && keys.includes(value));
  const agent = info?.agents.find((it) => value && it.executor === profileOf(value).executor);
  const why = whyNotReady(agent);
  return (
    <div className={styles.agent}>
      <div className={styles.agentRow}>
        <SelectField
          label={label}
          value={value ?? ""}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !onEnter) return;
            event.preventDefault();
            onEnter();
          }}
        >
          {!isListed && (
            <option value={value ?? ""}>{value ? profileInFull(profileOf(value)) : "Choose an agent"}</option>
          )}
          {groups.map(({ executor, agent, keys }) => (
            <optgroup
              key={executor}
              label={`${agent?.title ?? executor}${whyNotReady(agent) ? " (not ready)" : ""}`}
            >
              {keys.map((key) => (
                <option key={key} value={key}>
                  {profileInFull(profileOf(key))}
                </option>
              ))}
            </optgroup>
          ))}
        </SelectField>
        {onRemove && (
          <Button kind="quiet" icon="close" label={`Remove ${label.toLowerCase()}`} onClick={onRemove} />
        )}
      </div>
      {error && !info && <Failed isLine what="Agents are" error={error} again={() => void refetch()} />}
      {why && (
        <p className={styles.why} role="status">
          <span>{why}</span>
          <Button size="small" busy={isFetching && "Checking"} onClick={() => void refetch()}>
            Check again
          </Button>
        </p>
      )}
    </div>
  );
}
