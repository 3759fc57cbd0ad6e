// The head of a page: where the person is, and the few things to do there.

import type { ReactNode } from "react";
import styles from "./Head.module.css";

export function Head({ title, children }: { title: ReactNode; children?: ReactNode }) {
  return (
    <header className={styles.head}>
      <h1>{title}</h1>
      {children}
    </header>
  );
}
