// A call of a tool, as one line that opens. Each kind says what was done in words of its own.

import type { ActionType, ToolStatus } from "../../api/types";
import { Markdown } from "../../ui/Markdown";
import { plain, plainText } from "../../ui/Plain";
import { Edit } from "./Edit";
import { Fold } from "./Fold";
import { Output } from "./Output";
import { lastLine } from "./output";
import { resultOf } from "./result";
import styles from "./Tool.module.css";

type Props = { id: string; name: string; action: ActionType; status: ToolStatus; content: string };

export function Tool({ id, name, action, status, content }: Props) {
  const { word, tone } = resultOf(status);
  const ended = status.status === "success" ? null : word;
  const line = (words: string, what: string) => ({
    id,
    label: `${words} ${plainText(what)}, ${word}`,
    head: (
      <>
        {words} <code>{plain(what)}</code>
      </>
    ),
    tone,
    result: ended,
  });
  switch (action.action) {
    case "command_run": {
      const { word, tone } = resultOf(status, action.result);
      const output = action.result?.output ?? "";
      const command = firstLine(action.command);
      return (
        <Fold
          id={id}
          icon="terminal"
          label={`${plainText(command)}, ${word}`}
          head={
            <>
              <code>{plain(command)}</code> <i>{lastLine(output)}</i>
            </>
          }
          result={word}
          tone={tone}
          isOpen={status.status === "failed"}
        >
          {action.command.includes("\n") && <pre className={styles.command}>{plain(action.command)}</pre>}
          {action.result ? (
            <Output text={output} label={`Output of ${plainText(command)}`} />
          ) : (
            <p>Still running.</p>
          )}
          <Reason status={status} />
        </Fold>
      );
    }
    case "file_edit":
      return <Edit id={id} path={action.path} changes={action.changes} status={status} />;
    case "file_read":
      return <Fold {...line("Read", action.path)} icon="file" />;
    case "search":
      return <Fold {...line("Searched", action.query)} icon="search" />;
    case "web_fetch":
      return <Fold {...line("Fetched", action.url)} icon="globe" />;
    case "task_create":
      return <Fold {...line("Began a task:", firstLine(action.description))} icon="plus" />;
    case "plan_presentation":
      return (
        <Fold
          id={id}
          icon="list"
          label={`Plan, ${word}`}
          head="Plan"
          tone={tone}
          result={planWord(status)}
          isOpen
        >
          <div className={styles.plan}>
            <Markdown text={action.plan} />
          </div>
          <Reason status={status} />
        </Fold>
      );
    case "todo_management": {
      const done = action.todos.filter((todo) => todo.status === "completed").length;
      return <Fold {...line("Updated its list,", `${done} of ${action.todos.length} done`)} icon="list" />;
    }
    case "tool": {
      const given = name === "question" ? { short: "", long: "" } : inWords(action.arguments);
      const result = action.result?.value;
      return (
        <Fold
          id={id}
          icon={name === "question" ? "question" : "gear"}
          label={`${plainText(content || action.tool_name)}, ${word}`}
          head={
            <>
              {plain(content || action.tool_name)} {given.short && <i>{plain(given.short)}</i>}
            </>
          }
          tone={tone}
          result={typeof result === "string" && name === "question" ? firstLine(result) : ended}
        >
          {given.long && <Output text={given.long} label="Input" />}
          {typeof result === "string" && result.trim() !== "" && action.result?.type.type === "markdown" ? (
            <Markdown text={result} />
          ) : (
            result != null && <Output text={inWords(result).long} label="Answer" />
          )}
          <Reason status={status} />
        </Fold>
      );
    }
    case "other":
      return <Fold {...line(name, firstLine(action.description))} icon="gear" />;
  }
}

function Reason({ status }: { status: ToolStatus }) {
  if (status.status === "denied" && status.reason)
    return <p className={styles.reason}>You said: {status.reason}</p>;
  if (status.status === "timed_out")
    return <p className={styles.reason}>Expired: the agent stopped waiting. Ask it to try again.</p>;
  return null;
}

const planWord = (status: ToolStatus) =>
  status.status === "success" ? "approved" : status.status === "denied" ? "changed" : null;

const firstLine = (text: string) => text.trimStart().split("\n", 1)[0] ?? "";

/** What a tool was given: its most telling value in short, and everything as text. */
function inWords(value: unknown): { short: string; long: string } {
  if (typeof value === "string") return { short: firstLine(value), long: value };
  if (value === null || value === undefined) return { short: "", long: "" };
  const long = JSON.stringify(value, null, 2);
  if (typeof value !== "object") return { short: String(value), long };
  const telling = Object.values(value).find((it) => typeof it === "string");
  return { short: typeof telling === "string" ? firstLine(telling).slice(0, 120) : "", long };
}
