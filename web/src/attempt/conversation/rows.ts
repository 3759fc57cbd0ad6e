// From entries to what is drawn: turns get a head, reading and searching in a row become one line, and what says nothing
// to a person is left out. Pure, and quick enough to be done for the whole window on every change.

import type { ActionType, Todo } from "../../api/types";
import type { Placed } from "./transcript";
import { apart } from "./whole";

export type Row =
  /** What the person said, with which a turn begins. */
  | {
      kind: "turn";
      key: string;
      placed: Placed;
      /** Its number in the conversation; null when neither end of that is in sight, nor a turn whose number is known. */
      number: number | null;
      /** Its number within its run; null when the run's beginning is not in the window. */
      ordinal: number | null;
      noise: readonly Placed[];
    }
  /** Several reads and searches. */
  | { kind: "reads"; key: string; placed: readonly Placed[] }
  | { kind: "entry"; key: string; placed: Placed };

export type Rows = {
  rows: readonly Row[];
  /** The newest list of things to do. */
  todos: readonly Todo[];
  /** Keys of rows that show an error or something that was asked. */
  marks: readonly string[];
};

/** Which part of the conversation a window shows. */
export type Span = {
  hasOlder: boolean;
  hasNewer: boolean;
  /** How many turns there are in all. */
  turns: number;
  /** Numbers of turns that were in the window before. */
  known: ReadonlyMap<string, number>;
};

/** How many turns come before the first of these. */
function turnsBefore(here: readonly string[], { hasOlder, hasNewer, turns, known }: Span): number | null {
  if (!hasOlder) return 0;
  for (const [at, key] of here.entries()) {
    const number = known.get(key);
    if (number !== undefined) return number - at - 1;
  }
  return hasNewer ? null : Math.max(0, turns - here.length);
}

export function rowsOf(entries: readonly Placed[], span: Span): Rows {
  const rows: Row[] = [];
  const marks: string[] = [];
  let todos: readonly Todo[] = [];
  const turns = entries.filter(({ entry }) => entry.entry_type.type === "user_message");
  let number = turnsBefore(
    turns.map(({ key }) => key),
    span,
  );
  let noise: Placed[] = [];
  let run: string | null = null;
  let ordinal: number | null = null;
  for (const placed of entries) {
    const { entry_type: type, content } = placed.entry;
    if (placed.run !== run) {
      run = placed.run;
      ordinal = placed.index === 0 ? 0 : null;
    }
    switch (type.type) {
      case "user_message":
        if (number !== null) number += 1;
        noise = [];
        if (ordinal !== null) ordinal += 1;
        rows.push({ kind: "turn", key: placed.key, placed, number, ordinal, noise });
        break;
      case "system_message":
        noise.push(placed);
        break;
      case "loading":
        break;
      case "tool_use": {
        const { action_type: action, status } = type;
        if (action.action === "todo_management") todos = action.todos;
        const last = rows.at(-1);
        if (isQuietRead(action, status.status) && last) {
          if (last.kind === "reads") {
            rows[rows.length - 1] = { ...last, placed: [...last.placed, placed] };
            break;
          }
          if (last.kind === "entry" && isReadRow(last.placed)) {
            rows[rows.length - 1] = { kind: "reads", key: last.key, placed: [last.placed, placed] };
            break;
          }
        }
        rows.push({ kind: "entry", key: placed.key, placed });
        if (status.status !== "success" && status.status !== "created") marks.push(placed.key);
        break;
      }
      default:
        if (type.type !== "error_message" && content.trim() === "") break;
        rows.push({ kind: "entry", key: placed.key, placed });
        if (type.type === "error_message") marks.push(placed.key);
    }
  }
  return { rows, todos, marks };
}

const isQuietRead = (action: ActionType, status: string) =>
  (action.action === "file_read" || action.action === "search") &&
  (status === "success" || status === "created");

function isReadRow({ entry: { entry_type: type } }: Placed) {
  return type.type === "tool_use" && isQuietRead(type.action_type, type.status.status);
}

/** The row that shows an entry. */
export function rowOf(rows: readonly Row[], key: string): number {
  return rows.findIndex((row) => isShownIn(row, key));
}

/** The row that shows an entry, or what comes after it: not everything has a row. None when its run has none. */
export function rowNear(rows: readonly Row[], key: string): number {
  const at = rowOf(rows, key);
  if (at >= 0) return at;
  const [run, index] = apart(key);
  const isOfRun = (row: Row) => apart(row.key)[0] === run;
  const next = rows.findIndex((row) => isOfRun(row) && apart(row.key)[1] >= index);
  return next >= 0 ? next : rows.findLastIndex(isOfRun);
}

/** Whether a row shows an entry: also as one of several, or as what the system said in its turn. */
export function isShownIn(row: Row, key: string): boolean {
  const within = row.kind === "reads" ? row.placed : row.kind === "turn" ? row.noise : [];
  return row.key === key || within.some((placed) => placed.key === key);
}

/** "Read 4 files, searched 2 times". */
export function readsInWords(placed: readonly Placed[]): string {
  let files = 0;
  let searches = 0;
  for (const { entry } of placed) {
    if (entry.entry_type.type !== "tool_use") continue;
    if (entry.entry_type.action_type.action === "search") searches += 1;
    else files += 1;
  }
  const read = files > 0 ? `Read ${files} ${files === 1 ? "file" : "files"}` : "";
  if (searches === 0) return read;
  const times = searches === 1 ? "once" : `${searches} times`;
  return read ? `${read}, searched ${times}` : `Searched ${times}`;
}
