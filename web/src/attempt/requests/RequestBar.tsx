// The requests that wait while their cards are out of view: how many, and the way there. One that stands nowhere in the
// conversation is answered here, and stays here while somebody writes, wherever it stands by then.

import { useEffect, useState } from "react";
import type { Approval } from "../../api/types";
import { askLine, askWord } from "../../facts/state";
import { GUARD } from "../../ui/answer";
import { Button } from "../../ui/Button";
import { Request } from "./Request";
import styles from "./RequestBar.module.css";

type Props = {
  asks: readonly Approval[];
  /** The entry at which each ask stands in the conversation. */
  keyOf: (ask: string) => string | undefined;
  seen: ReadonlySet<string>;
  /** The ask that has the focus here. */
  held: string | null;
  onHold: (ask: string | null) => void;
  onShow: (key: string) => void;
};

/** An ask and its entry come one after the other; sooner than a request takes an answer, so that none is given unseen. */
const ENTRY_COMES = GUARD - 100;

export function RequestBar({ asks, keyOf, seen, held, onHold, onShow }: Props) {
  const [first] = asks;
  const late = useLate(first?.approval_id);
  if (!first) return null;
  const id = first.approval_id;
  const key = keyOf(id);
  if (key === undefined && late !== id) return null;
  if (key === undefined || held === id)
    return (
      <div
        className={styles.bar}
        onFocus={() => onHold(id)}
        onBlur={({ currentTarget, relatedTarget }) => {
          if (!currentTarget.contains(relatedTarget)) onHold(null);
        }}
      >
        <Request key={id} ask={first} isInBar />
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

/** The ask, once it has been there for a while. */
function useLate(ask: string | undefined) {
  const [late, setLate] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setLate(ask), ENTRY_COMES);
    return () => clearTimeout(timer);
  }, [ask]);
  return late;
}
