// The attempt's dev server: started, stopped, its log, and its page in a frame that can reach nothing of the board.

import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { post, Refused, sentenceOf } from "../api/client";
import { useWorld } from "../api/world";
import { Button } from "../ui/Button";
import { Empty } from "../ui/Nothing";
import { DevLog, useDevLog } from "./DevLog";
import styles from "./Preview.module.css";

const WIDTHS = [
  { words: "375", width: 375 },
  { words: "768", width: 768 },
  { words: "Full", width: null },
] as const;

/** A page that was shown before its server was ready is loaded again when the server says something, so often. */
const TRIES = 3;

export function Preview({ attempt: id }: { attempt: string }) {
  const server = useWorld((world) => world.attempts.get(id)?.dev_server ?? null);
  const project = useWorld((world) => world.attempts.get(id)?.project_id ?? null);
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<{ sentence: string; needsScript: boolean } | null>(null);
  const [run, setRun] = useState<string | null>(null);
  const [isLogShown, setLogShown] = useState(false);
  const [width, setWidth] = useState<number | null>(null);
  const [times, setTimes] = useState(0);
  const ended = useWorld((world) => {
    const last = run ? world.runs.get(run) : undefined;
    return last && last.status !== "running" ? last : null;
  });
  const [, go] = useLocation();
  useEffect(() => {
    if (server) setRun(server.run_id);
  }, [server]);
  const log = useDevLog(run);
  useReloads(server?.run_id ?? null, log.length, () => setTimes((now) => now + 1));

  const act = async (word: string, not: string, what: () => Promise<unknown>) => {
    if (busy) return;
    setBusy(word);
    setProblem(null);
    try {
      await what();
    } catch (error) {
      const details = error instanceof Refused ? error.details : null;
      const needsScript = JSON.stringify(details ?? "").includes("no_dev_script");
      setProblem({ sentence: `${not}: ${sentenceOf(error)}`, needsScript });
    } finally {
      setBusy(null);
    }
  };
  const start = () => act("Starting", "Not started", () => post(`/task-attempts/${id}/start-dev-server`));
  const stop = (runId: string) =>
    act("Stopping", "Not stopped", () => post(`/execution-processes/${runId}/stop`));

  return (
    <div className={styles.preview}>
      <div className={styles.bar}>
        {server ? (
          <>
            <span role="status">Running on port {server.port}.</span>
            <a href={server.url} target="_blank" rel="noopener noreferrer">
              Open
            </a>
            <Button size="small" busy={busy} onClick={() => void stop(server.run_id)}>
              Stop
            </Button>
          </>
        ) : (
          <>
            <span role="status">
              {ended ? endWords(ended.status, ended.exit_code) : "The dev server is not running."}
            </span>
            <Button size="small" kind="primary" icon="play" busy={busy} onClick={() => void start()}>
              Start
            </Button>
          </>
        )}
        {run && (
          <Button
            size="small"
            kind="quiet"
            aria-expanded={isLogShown}
            icon={isLogShown ? "down" : "right"}
            onClick={() => setLogShown(!isLogShown)}
          >
            Log
          </Button>
        )}
        <span className={styles.room} />
        {server && (
          <>
            <Button size="small" kind="quiet" onClick={() => setTimes(times + 1)}>
              Reload
            </Button>
            <span role="radiogroup" aria-label="Width" className={styles.widths}>
              {WIDTHS.map((choice) => (
                <button
                  key={choice.words}
                  type="button"
                  role="radio"
                  aria-checked={width === choice.width}
                  onClick={() => setWidth(choice.width)}
                >
                  {choice.words}
                </button>
              ))}
            </span>
          </>
        )}
      </div>
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem.sentence}
          {problem.needsScript && project && (
            <Button size="small" onClick={() => go(`/settings/project/${project}`)}>
              Project settings
            </Button>
          )}
        </p>
      )}
      {isLogShown && <DevLog lines={log} />}
      {server ? (
        <Framed url={server.url} width={width} times={times} />
      ) : (
        <Empty>Start the dev server to see the attempt's page here, on a port of its own.</Empty>
      )}
    </div>
  );
}

const endWords = (status: string, code: number | null) =>
  status === "killed" ? "The dev server was stopped." : `The dev command ended with ${code ?? "a signal"}.`;

function Framed({ url, width, times }: { url: string; width: number | null; times: number }) {
  const host = location.hostname;
  const isHere =
    host === "localhost" || host === "127.0.0.1" || host === "[::1]" || host.endsWith(".localhost");
  if (!isHere)
    return (
      <Empty>The page is served on the computer that Forge runs on: open the board there to see it.</Empty>
    );
  return (
    <div className={styles.stage}>
      {/* Without its own origin: what an agent wrote cannot read the board, nor another attempt's page. */}
      <iframe
        key={times}
        title="Preview"
        src={url}
        sandbox="allow-scripts allow-forms"
        referrerPolicy="no-referrer"
        className={styles.frame}
        style={{ width: width ?? "100%" }}
      />
    </div>
  );
}

function useReloads(run: string | null, heard: number, reload: () => void) {
  const [count, setCount] = useState<{ run: string | null; done: number; heard: number }>({
    run: null,
    done: 0,
    heard: 0,
  });
  useEffect(() => {
    if (run !== count.run) {
      setCount({ run, done: 0, heard });
      return;
    }
    if (!run || heard === count.heard || count.done >= TRIES) return;
    const timer = setTimeout(() => {
      setCount({ run, done: count.done + 1, heard });
      reload();
    }, 300);
    return () => clearTimeout(timer);
  }, [run, heard, count, reload]);
}
