import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { postOnce } from "./client";

let keys: Array<string | undefined>;
let answer: () => Response;

const answered = () => Response.json({ success: true, data: null });
const refused = () => Response.json({ success: false, message: "No." }, { status: 409 });
const away = (): Response => {
  throw new TypeError("Failed to fetch");
};

beforeEach(() => {
  keys = [];
  answer = answered;
  vi.useFakeTimers({ toFake: ["Date"] });
  // Nobody waits before a call is tried again.
  vi.stubGlobal("setTimeout", queueMicrotask);
  vi.stubGlobal("fetch", async (_: string, { headers }: RequestInit) => {
    keys.push((headers as Record<string, string>)["Idempotency-Key"]);
    return answer();
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const act = (prompt: string) => postOnce("/task-attempts/a/follow-up", { prompt }).catch(() => {});
const different = () => new Set(keys).size;

test("an act that got no answer is the same one when it is tried again", async () => {
  answer = away;
  await act("unheard");
  expect(keys).toHaveLength(3);
  answer = answered;
  await act("unheard");
  expect(different()).toBe(1);
  await act("unheard");
  expect(different(), "an answer is the end of it").toBe(2);
});

test("two clicks at once are one act", async () => {
  await Promise.all([act("twice"), act("twice")]);
  expect(different()).toBe(1);
});

test("what was refused, what says something else, and what is tried much later are other acts", async () => {
  answer = refused;
  await act("refused");
  await act("refused");
  expect(different()).toBe(2);
  answer = away;
  await act("one");
  await act("another");
  expect(different()).toBe(4);
  vi.setSystemTime(Date.now() + 180_000);
  await act("one");
  expect(different()).toBe(5);
});
