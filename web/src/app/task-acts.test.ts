import { afterEach, beforeEach, expect, test, vi } from "vitest";

type Said = { text: string; undo?: () => void };
const said = vi.hoisted(() => {
  // Which keys there are is asked when the program is read.
  vi.stubGlobal("navigator", { platform: "" });
  return [] as Said[];
});
vi.mock("./notices", () => ({
  say: (text: string, more: Omit<Said, "text">) => said.push({ text, ...more }),
  sayError: (error: Error) => said.push({ text: error.message }),
}));

import { deleteTasks, wayTo } from "./task-acts";

let calls: string[];
let refused: ReadonlySet<string>;
beforeEach(() => {
  said.length = 0;
  calls = [];
  refused = new Set();
  vi.stubGlobal("fetch", async (path: string, { method = "GET" }: RequestInit) => {
    calls.push(`${method} ${path}`);
    if (refused.has(path))
      return Response.json({ success: false, message: "An agent is at it." }, { status: 409 });
    const data = ["t1", "t2", "t3"].map((id) => ({ kind: "task", id: `removed-${id}`, task_id: id }));
    return Response.json({ success: true, data });
  });
});
afterEach(() => vi.unstubAllGlobals());

test("several tasks go with one word, and one undo brings all of them back in the other order", async () => {
  await deleteTasks(["t1", "t2", "t3"]);
  expect(calls).toEqual(["DELETE /api/tasks/t1", "DELETE /api/tasks/t2", "DELETE /api/tasks/t3"]);
  expect(said.map(({ text }) => text)).toEqual(["3 tasks are gone."]);
  said[0]?.undo?.();
  const back = () => calls.filter((call) => call.startsWith("POST"));
  await vi.waitFor(() => expect(back()).toHaveLength(3));
  expect(back()).toEqual(["t3", "t2", "t1"].map((id) => `POST /api/removed/removed-${id}/recover`));
});

test("what is refused of several is told in one sentence, and the others are gone all the same", async () => {
  refused = new Set(["/api/tasks/t1", "/api/tasks/t3"]);
  await deleteTasks(["t1", "t2", "t3"]);
  expect(said.map(({ text }) => text)).toEqual([
    "2 tasks were not deleted: An agent is at it.",
    "1 task is gone.",
  ]);
});

test("a start leads to its attempt, unless the person is there", () => {
  vi.stubGlobal("location", { pathname: "/p/p1" });
  expect(wayTo("a1").action?.words).toBe("Open");
  vi.stubGlobal("location", { pathname: "/a/a1" });
  expect(wayTo("a1")).toEqual({});
});
