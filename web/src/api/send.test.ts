import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { send } from "./send";

let sent: Array<{ isKept: boolean; answer: () => void }>;

beforeEach(() => {
  sent = [];
  vi.stubGlobal(
    "fetch",
    (_: string, { keepalive }: RequestInit) =>
      new Promise<Response>((done) => {
        sent.push({ isKept: keepalive === true, answer: () => done(new Response()) });
      }),
  );
});
afterEach(() => vi.unstubAllGlobals());

const isKept = async (request: RequestInit) => {
  const answer = send("/api/tasks", request);
  const last = sent.at(-1);
  last?.answer();
  await answer;
  return last?.isKept;
};

test("an act outlives its page, and a question does not", async () => {
  expect(await isKept({ method: "PUT", body: "{}" })).toBe(true);
  expect(await isKept({ method: "DELETE" })).toBe(true);
  expect(await isKept({ method: "GET" })).toBe(false);
});

test("files and long texts are sent as ever, since a browser would fail them", async () => {
  expect(await isKept({ method: "POST", body: new FormData() })).toBe(false);
  expect(await isKept({ method: "POST", body: "x".repeat(20_000) })).toBe(false);
});

test("of very many acts at once the first outlive their page, and none fails", async () => {
  const put = () => send("/api/tasks", { method: "PUT", body: "{}" });
  const all = Array.from({ length: 300 }, put);
  expect(sent.filter((it) => it.isKept)).toHaveLength(100);
  for (const it of sent) it.answer();
  await Promise.all(all);
  expect(await isKept({ method: "PUT", body: "{}" })).toBe(true);
});
