import { expect, test, vi } from "vitest";

const said = vi.hoisted(() => [] as string[]);
vi.mock("./notices", () => ({ sayError: (error: Error) => said.push(error.message) }));

import { actOn, forgetProblem } from "./acting";

/** A promise, and what ends it. */
function open<T>() {
  let end: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    end = resolve;
  });
  return { promise, end };
}

test("who asks for what is under way already gets that one", async () => {
  const stop = open<boolean>();
  const act = vi.fn(() => stop.promise);
  const both = [actOn("task", "Stopping", act), actOn("task", "Stopping", act)];
  stop.end(true);
  expect(await Promise.all(both)).toEqual([true, true]);
  expect(act).toHaveBeenCalledOnce();
  expect(said).toEqual([]);
});

test("who asks for something else meanwhile is told that it was not done", async () => {
  const start = open<void>();
  const starting = actOn("task", "Starting", () => start.promise);
  const move = vi.fn(async () => true);
  expect(await actOn("task", null, move)).toBeUndefined();
  expect(move).not.toHaveBeenCalled();
  expect(said).toEqual(["Not done: it is starting just now."]);
  // Who has read that does not end what is under way.
  forgetProblem("task");
  const again = vi.fn(async () => {});
  void actOn("task", "Starting", again);
  expect(again).not.toHaveBeenCalled();
  start.end();
  await starting;
  expect(await actOn("task", null, move)).toBe(true);
});
