import { expect, test } from "vitest";
import type { TaskAttempt, TaskStatus } from "../api/types";
import { attempt, task, worldOf } from "../facts/sample";
import type { ColumnId } from "../facts/state";
import { cardOf } from "./cards";
import { meaningOf } from "./moves";

function move(from: TaskStatus, to: ColumnId, about?: Partial<TaskAttempt>) {
  const attempts = about ? [attempt(about)] : [];
  const card = cardOf(worldOf({ tasks: [task({ status: from })], attempts }), "t1");
  if (!card) throw new Error("no card");
  return meaningOf(card, to);
}

test("to take a wish to Forge is to start it, and to take work back there is to reply", () => {
  expect(move("todo", "inprogress").kind).toBe("start");
  expect(move("inreview", "inprogress", {})).toEqual({ kind: "reply", attempt: "a1" });
  expect(move("todo", "inprogress", { state: "failed" }).kind).toBe("start");
});

test("an agent that is at work is never stopped without a question", () => {
  for (const to of ["todo", "done", "archived", "cancelled", "inreview"] as const)
    expect(move("inprogress", to, { state: "running" })).toEqual({ kind: "ask stop", attempt: "a1" });
});

test("what did not land is not marked done without a question", () => {
  expect(move("inreview", "done", { files_changed: 6 })).toEqual({
    kind: "ask done",
    attempt: "a1",
    files: 6,
  });
  expect(move("inreview", "done", { files_changed: 6, is_merged: true }).kind).toBe("move");
  expect(move("inreview", "done", { files_changed: 0 }).kind).toBe("move");
  expect(move("todo", "done")).toEqual({ kind: "ask done", attempt: null, files: null });
});

test("there is nothing to review where nobody has worked", () => {
  expect(move("todo", "inreview")).toEqual({ kind: "refused", why: "Nothing to review yet." });
  expect(move("done", "inreview", {}).kind).toBe("move");
  expect(move("todo", "archived").kind).toBe("move");
  expect(move("todo", "todo").kind).toBe("nothing");
});
