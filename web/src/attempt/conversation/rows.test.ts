import { describe, expect, it } from "vitest";
import type { ActionType, NormalizedEntryType } from "../../api/types";
import { readsInWords, rowOf, rowsOf } from "./rows";
import type { Placed } from "./transcript";

let next = 0;
function entry(entry_type: NormalizedEntryType, content = "x"): Placed {
  const index = next++;
  return {
    key: `r:${index}`,
    run: "r",
    index,
    entry: { content, entry_type, metadata: null, timestamp: null },
  };
}
const tool = (action_type: ActionType, status: "success" | "failed" = "success") =>
  entry({ type: "tool_use", tool_name: "t", action_type, status: { status } });
const read = () => tool({ action: "file_read", path: "a.ts" });
const search = () => tool({ action: "search", query: "q" });
const say = (text = "hello") => entry({ type: "assistant_message" }, text);
const user = () => entry({ type: "user_message" }, "do it");

const WHOLE = { hasOlder: false, hasNewer: false, turns: 0, known: new Map<string, number>() };

describe("rows of a conversation", () => {
  it("begin a turn with each message of the person, counted from the first", () => {
    const { rows } = rowsOf([user(), say(), user(), say()], WHOLE);
    expect(rows.map((row) => (row.kind === "turn" ? `turn ${row.number}` : row.kind))).toEqual([
      "turn 1",
      "entry",
      "turn 2",
      "entry",
    ]);
  });

  it("count turns from the end when the beginning is not in the window", () => {
    const { rows } = rowsOf([say(), user(), say()], { ...WHOLE, hasOlder: true, turns: 7 });
    expect(rows.find((row) => row.kind === "turn")).toMatchObject({ number: 7 });
  });

  it("count on from a turn that is known when neither end is in the window, and claim nothing without one", () => {
    const middle = { ...WHOLE, hasOlder: true, hasNewer: true, turns: 40 };
    const entries = [say(), user(), say(), user(), user()];
    const numbers = (known: Map<string, number>) =>
      rowsOf(entries, { ...middle, known }).rows.flatMap((row) => (row.kind === "turn" ? [row.number] : []));
    expect(numbers(new Map())).toEqual([null, null, null]);
    expect(numbers(new Map([[entries[3]?.key ?? "", 12]]))).toEqual([11, 12, 13]);
    // What is known counts also at the end, where the number of all turns may be told a moment later.
    const known = new Map([[entries[1]?.key ?? "", 38]]);
    const { rows } = rowsOf(entries, { ...middle, hasNewer: false, turns: 39, known });
    expect(rows.findLast((row) => row.kind === "turn")).toMatchObject({ number: 40 });
  });

  it("make one line of reads and searches in a row", () => {
    const reads = [read(), read(), search()];
    const { rows } = rowsOf([user(), ...reads, say(), read()], WHOLE);
    expect(rows.map((row) => row.kind)).toEqual(["turn", "reads", "entry", "entry"]);
    expect(readsInWords(reads)).toBe("Read 2 files, searched once");
    expect(rowOf(rows, reads[2]?.key ?? "")).toBe(1);
  });

  it("leave out what says nothing, and keep it with its turn", () => {
    const noise = entry({ type: "system_message" }, "model x");
    const { rows } = rowsOf([user(), noise, say(""), say()], WHOLE);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({ noise: [noise] });
    expect(rowOf(rows, noise.key)).toBe(0);
  });

  it("mark errors and failed calls, and know the newest todos", () => {
    const failed = tool({ action: "command_run", command: "false", result: null }, "failed");
    const error = entry({ type: "error_message", error_type: { type: "other" } }, "no");
    const todos = [{ content: "one", priority: null, status: "completed" }];
    const list = tool({ action: "todo_management", operation: "write", todos });
    const { marks, todos: found } = rowsOf([failed, error, list], WHOLE);
    expect(marks).toEqual([failed.key, error.key]);
    expect(found).toBe(todos);
  });
});
