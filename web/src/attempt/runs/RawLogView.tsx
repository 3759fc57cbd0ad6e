// The raw log of a run: every line it printed, in its colours, as a virtual list that follows the end.

import { useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { Virtualizer } from "virtua";
import { Ansi } from "../../ui/Ansi";
import { Button } from "../../ui/Button";
import { Empty, Loading } from "../../ui/Nothing";
import { counted } from "../../ui/numbers";
import { useFollowing } from "../conversation/follow";
import { narrow } from "../conversation/output";
import styles from "./Runs.module.css";
import { type LogState, RawLog, shownLine } from "./rawlog";

const NOTHING: LogState = { lines: [], dropped: 0, isOver: false, problem: null };

export function RawLogView({ run, label }: { run: string; label: string }) {
  const [log, setLog] = useState<RawLog | null>(null);
  useEffect(() => {
    const made = new RawLog(run);
    setLog(made);
    return () => made.close();
  }, [run]);
  const state = useSyncExternalStore(log?.watch ?? never, log?.now ?? nothing);
  const box = useRef<HTMLDivElement>(null);
  const { isFollowing, now: following, follow } = useFollowing(box, true);
  const { lines, dropped, isOver, problem } = state;
  const pin = useCallback(() => {
    if (following.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [following]);
  useLayoutEffect(() => {
    if (isFollowing && lines.length > 0) pin();
  }, [lines, isFollowing, pin]);
  return (
    <div className={styles.logBox}>
      {dropped > 0 && <p className={styles.meta}>{counted(dropped, "earlier line")} not shown.</p>}
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
      <div
        ref={box}
        className={styles.log}
        role="log"
        aria-live="off"
        aria-label={label}
        data-following={isFollowing}
        data-windowed
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {lines.length === 0 ? (
          isOver ? (
            <Empty>It printed nothing.</Empty>
          ) : (
            <Loading what="the log" />
          )
        ) : (
          <Virtualizer data={lines} scrollRef={box} itemSize={18} onResize={pin}>
            {(line) => (
              <div key={line.number} className={styles.line} data-error={line.isError || undefined}>
                <span>{line.number}</span>
                <code>
                  <Ansi text={narrow([shownLine(line)])} />
                </code>
              </div>
            )}
          </Virtualizer>
        )}
      </div>
      {!isFollowing && (
        <div className={styles.pill}>
          <Button
            size="small"
            icon="down"
            onClick={() => {
              follow();
              pin();
            }}
          >
            Newest
          </Button>
        </div>
      )}
    </div>
  );
}

const never = () => () => {};
const nothing = () => NOTHING;
