import { expect, test } from "vitest";
import { ACTIONS, type Action, SCOPES } from "./actions";

const all = Object.entries<Action>(ACTIONS);

test("no key means two things in the same place", () => {
  for (const scope of Object.keys(SCOPES)) {
    const keys = all.filter(([, action]) => action.scope === scope).flatMap(([, action]) => action.keys);
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  }
});

test("deleting is no single letter, and every action has words", () => {
  expect(ACTIONS.deleteTask.keys).toEqual(["Delete"]);
  for (const [id, action] of all) expect(action.words, id).not.toBe("");
});

test("what can only be done by a key has one", () => {
  for (const [id, action] of all) if (action.keyOnly) expect(action.keys.length, id).toBeGreaterThan(0);
});

test("what the help lists is done somewhere: every action has a handler", () => {
  const sources = import.meta.glob<string>("../**/*.{ts,tsx}", {
    query: "?raw",
    import: "default",
    eager: true,
  });
  const code = Object.entries(sources)
    .filter(([path]) => !path.endsWith("actions.ts") && !path.includes(".test."))
    .map(([, text]) => text)
    .join("\n");
  const idle = all.map(([id]) => id).filter((id) => !new RegExp(`\\b${id}(:|,|\\])`).test(code));
  expect(idle).toEqual([]);
});
