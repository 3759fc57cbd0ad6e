// One row of a conversation, by its kind.

import { memo } from "react";
import { useWorld } from "../../api/world";
import { Boundary } from "../../ui/Boundary";
import { Markdown } from "../../ui/Markdown";
import { counted } from "../../ui/numbers";
import { Request } from "../requests/Request";
import styles from "./Entry.module.css";
import { Fold } from "./Fold";
import { type Row, readsInWords } from "./rows";
import { Tool } from "./Tool";
import { Turn, type TurnActs } from "./Turn";
import type { Placed } from "./transcript";

type Props = {
  row: Row;
  acts: TurnActs;
  isRunning: boolean;
  /** The entry that was asked for, when this row shows it. */
  marked: string | null;
};

export const EntryRow = memo(
  function EntryRow({ row, acts, isRunning, marked }: Props) {
    const first = row.kind === "reads" ? row.placed[0] : row.placed;
    return (
      <div
        className={styles.row}
        data-testid="entry"
        data-index={first?.index}
        data-key={row.key}
        data-marked={marked !== null || undefined}
      >
        <Boundary what="This entry">
          {row.kind === "turn" ? (
            <Turn
              row={row}
              acts={acts}
              isRunning={isRunning}
              isNoiseWanted={marked !== null && marked !== row.key}
            />
          ) : row.kind === "reads" ? (
            <Reads id={row.key} placed={row.placed} />
          ) : (
            <>
              <One placed={row.placed} />
              {isCut(row.placed) && (
                <p className={styles.feedback}>This is cut. The raw log, under Runs, has all of it.</p>
              )}
            </>
          )}
        </Boundary>
      </div>
    );
  },
  (a, b) =>
    a.marked === b.marked &&
    a.acts === b.acts &&
    a.row.kind === b.row.kind &&
    (a.row.kind === "turn"
      ? a.isRunning === b.isRunning &&
        b.row.kind === "turn" &&
        a.row.placed === b.row.placed &&
        a.row.number === b.row.number &&
        a.row.noise.length === b.row.noise.length
      : a.row.kind === "reads" && b.row.kind === "reads"
        ? a.row.placed.length === b.row.placed.length &&
          a.row.placed.every((it, i) => it === (b.row.placed as readonly Placed[])[i])
        : a.row.placed === b.row.placed),
);

/** The server keeps entries small, and says of which it left something out. */
const isCut = ({ entry: { metadata } }: Placed) =>
  typeof metadata === "object" && metadata !== null && "cut" in metadata && metadata.cut === true;

function Reads({ id, placed }: { id: string; placed: readonly Placed[] }) {
  const words = readsInWords(placed);
  return (
    <Fold id={id} icon="file" label={words} head={words}>
      <ul className={styles.reads}>
        {placed.map(({ key, entry: { entry_type: type } }) =>
          type.type !== "tool_use" ? null : (
            <li key={key}>
              {type.action_type.action === "file_read" && <code>{type.action_type.path}</code>}
              {type.action_type.action === "search" && (
                <>
                  search <code>{type.action_type.query}</code>
                </>
              )}
            </li>
          ),
        )}
      </ul>
    </Fold>
  );
}

function One({ placed }: { placed: Placed }) {
  const { key, entry } = placed;
  const { entry_type: type, content } = entry;
  switch (type.type) {
    case "assistant_message":
      return <Markdown text={content} />;
    case "thinking":
      return (
        <Fold
          id={key}
          icon="think"
          label={`Thought, ${counted(words(content), "word")}`}
          head={
            <>
              Thought <i>{content.split("\n", 1)[0]}</i>
            </>
          }
          result={counted(words(content), "word")}
        >
          <div className={styles.thought}>
            <Markdown text={content} />
          </div>
        </Fold>
      );
    case "tool_use":
      if (type.status.status === "pending_approval")
        return <Asked approval={type.status.approval_id} placed={placed} />;
      return (
        <Tool
          id={key}
          name={type.tool_name}
          action={type.action_type}
          status={type.status}
          content={content}
        />
      );
    case "user_feedback":
      return (
        <p className={styles.feedback}>
          You denied {type.denied_tool}
          {content.trim() && <>: {content}</>}
        </p>
      );
    case "error_message":
      return (
        <div className={styles.error} role="group" aria-label="Error">
          <Markdown text={content || "The agent reported an error without words."} />
          {type.error_type.type === "setup_required" && (
            <p>The agent must be set up first: see Settings, Agents.</p>
          )}
        </div>
      );
    default:
      return <p>{content}</p>;
  }
}

function Asked({ approval, placed }: { approval: string; placed: Placed }) {
  const ask = useWorld((world) => world.asks.get(approval));
  if (ask) return <Request key={ask.approval_id} ask={ask} />;
  return <p className={styles.feedback}>Waits for an answer: {placed.entry.content}</p>;
}

const words = (text: string) => text.trim().split(/\s+/).length;
