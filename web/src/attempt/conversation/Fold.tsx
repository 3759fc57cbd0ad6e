// One line that opens: what was done, how it ended, and below it the rest.

import type { ReactNode } from "react";
import { Icon, type IconName } from "../../ui/Icon";
import styles from "./Fold.module.css";
import { useFold } from "./folds";

type Props = {
  /** What the fold is remembered by. */
  id: string;
  /** The name of the button: what was done and how it ended. */
  label: string;
  head: ReactNode;
  icon?: IconName;
  /** The word for how it ended, at the right. */
  result?: ReactNode;
  tone?: "quiet" | "fail" | "done";
  isOpen?: boolean;
  children?: ReactNode;
};

export function Fold({
  id,
  label,
  head,
  icon,
  result,
  tone = "quiet",
  isOpen: byItself = false,
  children,
}: Props) {
  const [isOpen, toggle] = useFold(id, byItself);
  // The name says it all; what is drawn is the same in short.
  const line = (
    <span className={styles.line} aria-hidden="true">
      {icon && <Icon name={icon} size={14} className={styles.icon} />}
      <span className={styles.what}>{head}</span>
      {result && (
        <span className={styles.result} data-tone={tone}>
          {result}
        </span>
      )}
    </span>
  );
  if (!children)
    return (
      <div className={styles.fold} role="group" aria-label={label}>
        <div className={styles.head}>
          <span className={styles.gap} />
          {line}
        </div>
      </div>
    );
  return (
    <div className={styles.fold} role="group" aria-label={label} data-open={isOpen || undefined}>
      <button type="button" className={styles.head} aria-expanded={isOpen} onClick={toggle}>
        <span className="unseen">{label}</span>
        <Icon name={isOpen ? "down" : "right"} size={12} />
        {line}
      </button>
      {isOpen && <div className={styles.body}>{children}</div>}
    </div>
  );
}
