import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startNew } from "./save";

// Which keys there are is asked when the program is read.
vi.hoisted(() => vi.stubGlobal("navigator", { platform: "" }));

const TASK = { project: "p1", title: "Twice", prompt: "say hello", images: [] };

let calls: Array<{ path: string; key: string | undefined; profile: string }>;
let answer: (path: string, profile: string) => Response;
beforeEach(() => {
  calls = [];
  answer = () => Response.json({ success: true, data: { id: "t1", project_id: "p1" } });
  // Nobody waits before a call is tried again.
  vi.stubGlobal("setTimeout", queueMicrotask);
  vi.stubGlobal("fetch", async (path: string, { headers, body }: RequestInit) => {
    const { executor } = JSON.parse(String(body)).executor_profile_id;
    calls.push({ path, key: (headers as Record<string, string>)["Idempotency-Key"], profile: executor });
    return answer(path, executor);
  });
});
afterEach(() => vi.unstubAllGlobals());

test("an agent that is refused does not hold up the others, and the task is made once", async () => {
  answer = (_, profile) =>
    profile === "CODEX"
      ? Response.json({ success: false, message: "The disk is full." }, { status: 409 })
      : Response.json({ success: true, data: { id: "t1", project_id: "p1" } });
  const { refused } = await startNew(TASK, ["SCRIPTED", "CODEX", "AMP"], "main");
  expect(refused).toEqual([{ profile: "CODEX", why: "The disk is full." }]);
  expect(calls.map(({ path, profile }) => `${path} ${profile}`)).toEqual([
    "/api/tasks/create-and-start SCRIPTED",
    "/api/task-attempts CODEX",
    "/api/task-attempts AMP",
  ]);
});

test("a start that got no answer is the same when it is tried again, and another one when it was answered", async () => {
  const works = answer;
  answer = () => {
    throw new TypeError("Failed to fetch");
  };
  await expect(startNew(TASK, ["SCRIPTED"], "main")).rejects.toThrow("cannot be reached");
  answer = works;
  await startNew(TASK, ["SCRIPTED"], "main");
  await startNew(TASK, ["SCRIPTED"], "main");
  const keys = calls.map(({ key }) => key);
  expect(new Set(keys.slice(0, -1)).size).toBe(1);
  expect(keys.at(-1)).not.toBe(keys[0]);
});
