// Says that the server now carries another build of the board. It is looked for when the server comes back, and the page
// is never loaded anew by itself.

import { useEffect, useState } from "react";
import { useConnection } from "../api/live";
import { Button } from "../ui/Button";
import styles from "./Frame.module.css";

export function NewVersion() {
  const connection = useConnection();
  const back = connection.state === "online" && connection.isBack ? connection.since : null;
  const [version, setVersion] = useState<string | null>(null);
  useEffect(() => {
    if (back === null) return;
    let isOver = false;
    void newVersion().then((found) => !isOver && found !== null && setVersion(found));
    return () => {
      isOver = true;
    };
  }, [back]);
  if (version === null) return null;
  return (
    <div className={styles.banner} role="status">
      <span>Forge was updated{version && ` to ${version}`}. Reload to use it.</span>
      <Button size="small" onClick={() => location.reload()}>
        Reload
      </Button>
    </div>
  );
}

const SCRIPT = /src="(\/assets\/index-[^"]+\.js)"/;

/** The server's version if its page has another script than this one; null when it is the same, or cannot be told. */
async function newVersion(): Promise<string | null> {
  const own = document.querySelector<HTMLScriptElement>('script[src*="/assets/index-"]')?.getAttribute("src");
  const text = (path: string) => fetch(path, { cache: "no-store" }).then((answer) => answer.text());
  try {
    const theirs = SCRIPT.exec(await text("/"))?.[1];
    if (!own || !theirs || own === theirs) return null;
    return /"version":\s*"([^"]+)"/.exec(await text("/health"))?.[1] ?? "";
  } catch {
    return null;
  }
}
