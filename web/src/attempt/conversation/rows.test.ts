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

describe("rows of a conversation", () => {
  it("begin a turn with each message of the person, counted from the first", () => {
    const { rows } = rowsOf([user(), say(), user(), say()], false, 0);
    expect(rows.map((row) => (row.kind === "turn" ? `turn ${row.number}` : row.kind))).toEqual([
      "turn 1",
      "entry",
      "turn 2",
      "entry",
    ]);
  });

  it("count turns from the end when the beginning is not in the window", () => {
    const { rows } = rowsOf([say(), user(), say()], true, 7);
    expect(rows.find((row) => row.kind === "turn")).toMatchObject({ number: 7 });
  });

  it("make one line of reads and searches in a row", () => {
    const reads = [read(), read(), search()];
    const { rows } = rowsOf([user(), ...reads, say(), read()], false, 0);
    expect(rows.map((row) => row.kind)).toEqual(["turn", "reads", "entry", "entry"]);
    expect(readsInWords(reads)).toBe("Read 2 files, searched once");
    expect(rowOf(rows, reads[2]?.key ?? "")).toBe(1);
  });

  it("leave out what says nothing, and keep it with its turn", () => {
    const noise = entry({ type: "system_message" }, "model x");
    const { rows } = rowsOf([user(), noise, say(""), say()], false, 0);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({ noise: [noise] });
    expect(rowOf(rows, noise.key)).toBe(0);
  });

  it("mark errors and failed calls, and know the newest todos", () => {
    const failed = tool({ action: "command_run", command: "false", result: null }, "failed");
    const error = entry({ type: "error_message", error_type: { type: "other" } }, "no");
    const todos = [{ content: "one", priority: null, status: "completed" }];
    const list = tool({ action: "todo_management", operation: "write", todos });
    const { marks, todos: found } = rowsOf([failed, error, list], false, 0);
    expect(marks).toEqual([failed.key, error.key]);
    expect(found).toBe(todos);
  });
});
