import { expect, test } from "vitest";
import type { TaskAttempt, TaskWithAttemptStatus } from "../api/types";
import { ask, attempt, task, worldOf } from "../facts/sample";
import { arrange } from "./cards";
import { EMPTY } from "./filter";

const at = (minute: number) => `2026-01-01T12:${String(minute).padStart(2, "0")}:00Z`;
const pair = (id: string, about: Partial<TaskAttempt>, more: Partial<TaskWithAttemptStatus> = {}) => ({
  task: task({ id, ...more }),
  attempt: attempt({ id: `a-${id}`, task_id: id, ...about }),
});
const order = (pairs: ReturnType<typeof pair>[], asks: ReturnType<typeof ask>[] = [], sorts = {}) =>
  arrange(worldOf({ tasks: pairs.map((it) => it.task), attempts: pairs.map((it) => it.attempt), asks }), {
    project: null,
    filter: EMPTY,
    sorts,
  });

test("in Review what waits for an answer is first, then what broke, then the oldest that finished", () => {
  const board = order(
    [
      pair("new", { state_since: at(30) }),
      pair("old", { state_since: at(10) }),
      pair("broken", { state: "failed", state_since: at(40) }),
      pair("clash", { is_conflicted: true, state_since: at(50) }),
      pair("asks", { state: "waiting" }),
    ],
    [ask({ task_attempt_id: "a-asks", requested_at: at(59) })],
  );
  expect(board.columns.inreview).toEqual(["asks", "broken", "clash", "old", "new"]);
  expect([board.asks, board.toReview, board.running]).toEqual([3, 2, 0]);
});

test("wishes are in the order of the hand, done ones newest first, and another order can be chosen", () => {
  const wish = (id: string, position: number, title = id) => task({ id, status: "todo", position, title });
  const done = (id: string, updated_at: string) => task({ id, status: "done", updated_at });
  const world = worldOf({
    tasks: [wish("b", 2, "Alpha"), wish("a", 1, "Zulu"), done("first", at(1)), done("second", at(2))],
  });
  const own = arrange(world, { project: null, filter: EMPTY, sorts: {} });
  expect(own.columns.todo).toEqual(["a", "b"]);
  expect(own.columns.done).toEqual(["second", "first"]);
  const byTitle = arrange(world, { project: null, filter: EMPTY, sorts: { todo: "title" } });
  expect(byTitle.columns.todo).toEqual(["b", "a"]);
});

test("a board has the tasks of its project only, and no chats", () => {
  const world = worldOf({
    tasks: [
      task({ id: "here", status: "todo" }),
      task({ id: "there", project_id: "p2", status: "todo" }),
      task({ id: "chat", status: "agent" }),
    ],
  });
  const board = arrange(world, { project: "p1", filter: EMPTY, sorts: {} });
  expect(board.all).toBe(1);
  expect(board.columns.todo).toEqual(["here"]);
});
