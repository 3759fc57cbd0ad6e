// Asks for the server's token when it wants one, and gives it in exchange for a cookie that lets its holder in from then on.

import { type FormEvent, useEffect, useState } from "react";
import { post, sentenceOf } from "../api/client";
import { live } from "../api/live";
import { begin } from "../api/world";
import { Button } from "../ui/Button";
import { TextField } from "../ui/Field";
import styles from "./Welcome.module.css";

export function LoginPage() {
  const [token, setToken] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    // The page has settled: more is not known until the person has done something.
    document.documentElement.dataset.ready = "true";
  }, []);
  const enter = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy || !token.trim()) return;
    setBusy(true);
    setProblem(null);
    try {
      await post("/session", { token: token.trim() });
      await begin();
      live.tryNow();
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    setBusy(false);
  };
  return (
    <main id="content" className={styles.page}>
      <form className={`${styles.welcome} ${styles.form}`} onSubmit={enter}>
        <h1>This Forge asks for its token</h1>
        <p className={styles.lead}>
          `forge serve` prints it when it starts, and it stands in the file “token” of the server's data
          directory.
        </p>
        <TextField
          label="Token"
          type="password"
          autoFocus
          autoComplete="current-password"
          value={token}
          problem={problem}
          onChange={(event) => setToken(event.target.value)}
        />
        <Button kind="primary" submit busy={isBusy && "Checking"}>
          Continue
        </Button>
      </form>
    </main>
  );
}
