// The three ways in which there is nothing to show: none yet, not known yet, and not to be had.

import { type ReactNode, useEffect, useState } from "react";
import { Refused, sentenceOf } from "../api/client";
import { Button } from "./Button";
import styles from "./Nothing.module.css";

/** One sentence and, if there is one, the act that changes it. */
export function Empty({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className={styles.nothing}>
      <p>{children}</p>
      {action}
    </div>
  );
}

/** Nothing for a moment, then the word: what is quick does not flicker. */
export function Loading({ what }: { what: string }) {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={styles.nothing} aria-busy="true">
      {isSlow && <p>Loading {what}…</p>}
    </div>
  );
}

type FailedProps = {
  what: string;
  error: unknown;
  again?: () => void;
  /** For a place where nothing is the usual thing: it takes no more room than it needs. */
  isLine?: boolean;
};

/** What failed, why, and one button. */
export function Failed({ what, error, again, isLine }: FailedProps) {
  const isAway = error instanceof Refused && error.isAway;
  return (
    <div className={isLine ? styles.line : styles.nothing} role="alert">
      <p>
        {isAway ? `${what} not known while the server is away.` : `${what} not shown: ${sentenceOf(error)}`}
      </p>
      {again && (
        <Button size={isLine ? "small" : "normal"} onClick={again}>
          Try again
        </Button>
      )}
    </div>
  );
}
