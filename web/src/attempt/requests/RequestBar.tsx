// The requests that wait while their cards are out of view: how many, and the way there. One that stands nowhere in the
// conversation is answered here.

import type { Approval } from "../../api/types";
import { askLine, askWord } from "../../facts/state";
import { Button } from "../../ui/Button";
import { Request } from "./Request";
import styles from "./RequestBar.module.css";

type Props = {
  asks: readonly Approval[];
  /** The entry at which each ask stands in the conversation. */
  keyOf: (ask: string) => string | undefined;
  seen: ReadonlySet<string>;
  onShow: (key: string) => void;
};

export function RequestBar({ asks, keyOf, seen, onShow }: Props) {
  const [first] = asks;
  if (!first) return null;
  const key = keyOf(first.approval_id);
  if (key === undefined)
    return (
      <div className={styles.bar}>
        <Request key={first.approval_id} ask={first} />
      </div>
    );
  if (seen.has(first.approval_id)) return null;
  return (
    <div className={styles.bar} role="status">
      <span>
        {asks.length === 1 ? `1 ${askWord(first)}` : `1 of ${asks.length} requests`}: {askLine(first)}
      </span>
      <Button size="small" kind="ask" onClick={() => onShow(key)}>
        Show
      </Button>
    </div>
  );
}
