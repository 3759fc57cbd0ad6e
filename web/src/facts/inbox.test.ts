import { expect, test } from "vitest";
import { inboxOf } from "./inbox";
import { ask, attempt, task, worldOf } from "./sample";

const at = (minute: number) => `2026-01-01T12:${String(minute).padStart(2, "0")}:00Z`;
const NOW = Date.parse(at(59));

test("what stands still comes first, then what broke, then what is ready; inside a rank the oldest", () => {
  const world = worldOf({
    attempts: [
      attempt({ id: "ready", state_since: at(1) }),
      attempt({ id: "failed", state: "failed", state_since: at(2) }),
      attempt({ id: "asks", state: "waiting" }),
      attempt({ id: "plan", state: "waiting" }),
      attempt({ id: "limit", state: "limited", state_since: at(3) }),
    ],
    asks: [
      ask({ approval_id: "late", task_attempt_id: "asks", requested_at: at(9) }),
      ask({ approval_id: "early", task_attempt_id: "plan", kind: "plan", requested_at: at(8) }),
    ],
  });
  expect(inboxOf(world, NOW).map((item) => `${item.kind} ${item.attempt.id}`)).toEqual([
    "plan plan",
    "approval asks",
    "failed failed",
    "limit limit",
    "finished ready",
  ]);
});

test("what was dismissed comes back only when something new has happened", () => {
  const failed = { state: "failed", state_since: at(5) } as const;
  expect(inboxOf(worldOf({ attempts: [attempt({ ...failed, dismissed_at: at(6) })] }), NOW)).toEqual([]);
  expect(inboxOf(worldOf({ attempts: [attempt({ ...failed, dismissed_at: at(4) })] }), NOW)).toHaveLength(1);
});

test("what is put off until later is there again later", () => {
  const later = { state: "failed", dismissed_at: at(6), later_until: at(30) } as const;
  const world = worldOf({ attempts: [attempt({ ...later, state_since: at(5) })] });
  expect(inboxOf(world, Date.parse(at(29)))).toEqual([]);
  expect(inboxOf(world, Date.parse(at(31)))).toHaveLength(1);
  const failedAgain = worldOf({ attempts: [attempt({ ...later, state_since: at(7) })] });
  expect(inboxOf(failedAgain, Date.parse(at(29)))).toHaveLength(1);
});

test("a finished attempt leaves when it was looked at, a failed one stays", () => {
  expect(inboxOf(worldOf({ attempts: [attempt({ seen_at: at(9) })] }), NOW)).toEqual([]);
  expect(inboxOf(worldOf({ attempts: [attempt({ state: "failed", seen_at: at(9) })] }), NOW)).toHaveLength(1);
});

test("nothing of a task that is done or put away needs anybody", () => {
  const tasks = [task({ status: "archived" })];
  expect(inboxOf(worldOf({ tasks, attempts: [attempt({ state: "failed" })] }), NOW)).toEqual([]);
});

test("what broke says what it is: a conflict with its branch, an agent that is silent, one that reached its limit", () => {
  const attempts = [
    attempt({ id: "clash", is_conflicted: true, target_branch: "release", state_since: at(4) }),
    attempt({ id: "silent", state: "running", stalled: "No output for 6 min.", state_since: at(1) }),
    attempt({ id: "limit", state: "limited", state_since: at(2) }),
    attempt({ id: "failed", state: "failed", reason: "exit 3", state_since: at(3) }),
  ];
  const items = inboxOf(worldOf({ attempts }), NOW);
  expect(items.map(({ kind, attempt }) => `${kind} ${attempt.id}`)).toEqual([
    "failed failed",
    "conflict clash",
    "stall silent",
    "limit limit",
  ]);
  expect(items.slice(0, 3).map(({ reason }) => reason)).toEqual([
    "Exit 3",
    "Conflicts with release.",
    "No output for 6 min.",
  ]);
});

test("an agent that goes on, and a conflict that was resolved, leave", () => {
  expect(inboxOf(worldOf({ attempts: [attempt({ state: "running" })] }), NOW)).toEqual([]);
  const [resolved] = inboxOf(worldOf({ attempts: [attempt({ is_conflicted: false })] }), NOW);
  expect(resolved?.kind).toBe("finished");
});

test("every ask of an attempt is a thing of its own, and hides what the attempt is otherwise", () => {
  const asks = [ask({ approval_id: "one" }), ask({ approval_id: "two", kind: "question", text: "Which?" })];
  const items = inboxOf(worldOf({ attempts: [attempt({ state: "waiting", stalled: "silent" })], asks }), NOW);
  expect(items.map(({ kind, id }) => `${kind} ${id}`)).toEqual(["approval ask:one", "question ask:two"]);
});
