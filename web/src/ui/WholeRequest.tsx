// Everything that a permission is for, word by word: what a person allows is what they could read.

import type { Approval } from "../api/types";
import { wanted } from "../facts/wanted";
import { plain } from "./Plain";
import styles from "./WholeRequest.module.css";

export function WholeRequest({ ask }: { ask: Approval }) {
  const { object, rest } = wanted(ask);
  if (!object && !rest) return <p>{plain(ask.text)}</p>;
  return (
    <>
      {object && <Whole text={object} />}
      {rest && <Whole text={rest} />}
    </>
  );
}

function Whole({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <pre className={styles.whole} tabIndex={0}>
      {plain(text)}
    </pre>
  );
}
