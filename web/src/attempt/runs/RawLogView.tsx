// The raw log of a run: every line it printed, in its colours, as a virtual list that follows the end.

import {
  type KeyboardEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
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
  const list = useRef<VirtualizerHandle>(null);
  const { isFollowing, now: following, follow, leave } = useFollowing(box, true);
  const { lines, dropped, isOver, problem } = state;
  const pin = useCallback(() => {
    if (following.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [following]);
  useLayoutEffect(() => {
    if (isFollowing && lines.length > 0) pin();
  }, [lines, isFollowing, pin]);
  const toEnd = () => {
    follow();
    pin();
  };
  // By the list and not by the browser, which would stop short of lines that turn out taller on the way.
  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (event.key === "Home") {
      leave();
      list.current?.scrollToIndex(0);
    } else if (event.key === "End") toEnd();
    else return;
    event.preventDefault();
  };
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
        onKeyDown={key}
      >
        {lines.length === 0 ? (
          isOver ? (
            <Empty>It printed nothing.</Empty>
          ) : (
            <Loading what="the log" />
          )
        ) : (
          <Virtualizer ref={list} data={lines} scrollRef={box} itemSize={18} onResize={pin}>
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
          <Button size="small" icon="down" onClick={toEnd}>
            Newest
          </Button>
        </div>
      )}
    </div>
  );
}

const never = () => () => {};
const nothing = () => NOTHING;
