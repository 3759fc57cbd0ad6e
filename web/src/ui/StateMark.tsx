// The mark of a state: its icon, with the state's word as its name.

import { LOOKS, type State } from "../facts/state";
import { Icon } from "./Icon";
import styles from "./StateMark.module.css";

export function StateMark({ state, size = 16 }: { state: State; size?: 14 | 16 }) {
  const { icon, words, tone } = LOOKS[state];
  if (!icon) return null;
  const isFilled = state.startsWith("asks");
  return (
    <span className={styles.mark} data-tone={tone} data-filled={isFilled || undefined}>
      <Icon name={icon} label={words} size={isFilled ? 12 : size} />
    </span>
  );
}
