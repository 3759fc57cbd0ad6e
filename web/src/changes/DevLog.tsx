// The newest lines that a run printed, as they come.

import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { live } from "../api/live";
import type { RawLogPiece } from "../api/types";
import { Ansi } from "../ui/Ansi";
import styles from "./Preview.module.css";

const MOST = 400;

/** The last lines of a run's log. */
export function useDevLog(run: string | null): readonly string[] {
  const [lines, setLines] = useState<readonly string[]>([]);
  useEffect(() => {
    setLines([]);
    if (!run) return;
    let rest = "";
    return live.follow(`log:${run}`, {
      message(message) {
        if (!("value" in message)) return;
        const text = rest + (message.value as RawLogPiece[]).map(({ content }) => content).join("");
        const all = text.split("\n");
        rest = all.pop() ?? "";
        if (all.length > 0) setLines((known) => [...known, ...all].slice(-MOST));
      },
    });
  }, [run]);
  return lines;
}

export function DevLog({ lines }: { lines: readonly string[] }) {
  const box = useRef<HTMLPreElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the end when a line came.
  useLayoutEffect(() => {
    const element = box.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, [lines]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by key.
    <pre ref={box} className={styles.log} role="log" aria-label="Dev server log" aria-live="off" tabIndex={0}>
      {lines.length === 0
        ? "Nothing printed yet."
        : lines.map((line, index) => (
            <span key={index}>
              <Ansi text={line.slice(0, 2000)} />
              {"\n"}
            </span>
          ))}
    </pre>
  );
}
