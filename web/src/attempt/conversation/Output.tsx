// What a command or tool gave back, in the colours it wrote.

import { useState } from "react";
import { Ansi } from "../../ui/Ansi";
import { Button } from "../../ui/Button";
import { compact } from "../../ui/numbers";
import styles from "./Output.module.css";
import { cut } from "./output";

export function Output({ text, label = "Output" }: { text: string; label?: string }) {
  const [isWhole, setWhole] = useState(false);
  if (text.trim() === "") return <p className={styles.none}>No output.</p>;
  const { head, hidden, tail } = cut(text, isWhole);
  return (
    // A box that scrolls must be reachable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <div className={styles.output} role="region" aria-label={label} tabIndex={0}>
      <pre>
        <Ansi text={head} />
      </pre>
      {hidden > 0 && (
        <>
          <Button size="small" kind="quiet" onClick={() => setWhole(true)}>
            Show {compact(hidden)} more lines
          </Button>
          <pre>
            <Ansi text={tail} />
          </pre>
        </>
      )}
    </div>
  );
}
