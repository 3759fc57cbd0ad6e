import { expect, test } from "vitest";
import { ask, attempt, task } from "./sample";
import { attemptFacts, LOOKS, taskFacts } from "./state";

test("an open ask is more pressing than a running agent", () => {
  const facts = attemptFacts(attempt({ state: "waiting" }), [
    ask({ kind: "question", text: "Which port?\nOr none?" }),
  ]);
  expect(facts).toMatchObject({ state: "asks question", reason: "Which port?" });
});

test("a running agent says what it does, and a stalled one why", () => {
  expect(attemptFacts(attempt({ state: "running", activity: "Editing db.ts" }), [])).toMatchObject({
    state: "running",
    reason: "Editing db.ts",
  });
  expect(attemptFacts(attempt({ state: "running", stalled: "No output for 6 min." }), []).state).toBe(
    "stalled",
  );
  expect(attemptFacts(attempt({ state: "running", preparing: "npm ci" }), [])).toMatchObject({
    state: "preparing",
    reason: "Setup: npm ci",
  });
});

test("a finished attempt is to review, in conflict, offered or done", () => {
  expect(attemptFacts(attempt(), []).state).toBe("review");
  expect(attemptFacts(attempt({ is_conflicted: true }), []).state).toBe("conflict");
  expect(attemptFacts(attempt({ is_merged: true, is_conflicted: true }), []).state).toBe("done");
  const offered = attempt({ pull_request: { number: 42, url: "", status: "open", checks: null } });
  expect(attemptFacts(offered, [])).toMatchObject({ state: "pull request", reason: "#42" });
});

test("a pull request says what its checks came to, and a failed one at once", () => {
  const reason = (passed: number, failed: number, waiting: number) => {
    const checks = { passed, failed, waiting };
    return attemptFacts(attempt({ pull_request: { number: 42, url: "", status: "open", checks } }), [])
      .reason;
  };
  expect(reason(0, 0, 0)).toBe("#42");
  expect(reason(1, 0, 2)).toBe("#42, 1 of 3 checks passed");
  expect(reason(1, 1, 1)).toBe("#42, 1 of 3 checks failed");
  expect(reason(3, 0, 0)).toBe("#42, 3 checks passed");
  expect(reason(1, 0, 0)).toBe("#42, 1 check passed");
});

test("a task shows its most pressing attempt, and of equals the newest", () => {
  const running = attempt({ id: "a2", state: "running" });
  expect(taskFacts(task(), [attempt(), running], () => []).attempt?.id).toBe("a2");
  expect(taskFacts(task(), [attempt({ id: "new" }), attempt({ id: "old" })], () => []).attempt?.id).toBe(
    "new",
  );
});

test("a task that was put aside is quiet, unless an agent still works on it", () => {
  expect(taskFacts(task({ status: "archived" }), [attempt({ state: "failed" })], () => []).state).toBe(
    "archived",
  );
  expect(taskFacts(task({ status: "done" }), [attempt()], () => []).state).toBe("done");
  expect(taskFacts(task({ status: "done" }), [attempt({ state: "running" })], () => []).state).toBe(
    "running",
  );
});

test("a wish whose first attempt failed says so", () => {
  const failed = attempt({ state: "failed", reason: "Exit 1: model overloaded" });
  expect(taskFacts(task({ status: "todo" }), [failed], () => [])).toMatchObject({ state: "failed" });
  expect(taskFacts(task({ status: "todo" }), [], () => []).state).toBe("wish");
});

test("no two states that need a person look the same", () => {
  const icons = Object.values(LOOKS)
    .map((look) => look.icon)
    .filter((icon) => icon !== null);
  expect(new Set(icons).size).toBe(icons.length);
});
