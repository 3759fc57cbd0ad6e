// One line while the server is away, and one when it is back. What was known stays on the page.

import { useEffect, useRef, useState } from "react";
import { live, useConnection } from "../api/live";
import { useWorld } from "../api/world";
import { clock } from "../facts/clock";
import { Button } from "../ui/Button";
import { counted } from "../ui/numbers";
import { useNow } from "../ui/time";
import styles from "./Frame.module.css";

/** A hiccup is not worth a line. */
const PATIENCE = 3000;

export function AwayBanner() {
  const connection = useConnection();
  const position = useWorld((world) => world.position);
  const lost = useRef<number | null>(null);
  const [caughtUp, setCaughtUp] = useState<number | null>(null);
  const now = useNow();
  const isAway = connection.state === "away" && now - connection.since > PATIENCE;

  useEffect(() => {
    if (isAway) lost.current ??= position;
    else if (connection.state === "online" && lost.current !== null) {
      const before = lost.current;
      // The first events after the return tell how much was missed.
      const timer = setTimeout(() => {
        lost.current = null;
        setCaughtUp(Math.max(0, position - before));
      }, 300);
      return () => clearTimeout(timer);
    }
  }, [isAway, connection.state, position]);
  useEffect(() => {
    if (caughtUp === null) return;
    const timer = setTimeout(() => setCaughtUp(null), 3000);
    return () => clearTimeout(timer);
  }, [caughtUp]);

  if (isAway) {
    const seconds = Math.max(0, Math.ceil((connection.next - now) / 1000));
    return (
      <div className={styles.banner} role="alert">
        <span>
          The server is away since {clock(connection.since)}. Agents keep working; what you see may be old.
          <span aria-hidden="true"> Trying again in {seconds} s.</span>
        </span>
        <Button size="small" onClick={() => live.tryNow()}>
          Try now
        </Button>
      </div>
    );
  }
  if (caughtUp !== null)
    return (
      <div className={styles.banner} role="status">
        Back. Caught up with {counted(caughtUp, "change")}.
      </div>
    );
  return null;
}
