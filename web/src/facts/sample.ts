// Attempts, tasks and asks for tests: complete, dull, and changed only where a test says so.

import type { Approval, TaskAttempt, TaskWithAttemptStatus } from "../api/types";
import type { World } from "../api/world";

const NOON = "2026-01-01T12:00:00Z";

export const attempt = (change: Partial<TaskAttempt> = {}): TaskAttempt =>
  ({
    id: "a1",
    task_id: "t1",
    project_id: "p1",
    branch: "forge/a1",
    target_branch: "main",
    state: "finished",
    created_at: NOON,
    updated_at: NOON,
    state_since: NOON,
    is_merged: false,
    is_conflicted: false,
    open_asks: 0,
    queued: 0,
    stalled: null,
    reason: null,
    activity: null,
    preparing: null,
    pull_request: null,
    seen_at: null,
    dismissed_at: null,
    later_until: null,
    limited_until: null,
    queue_place: null,
    resume_when_limited: null,
    ...change,
  }) as TaskAttempt;

export const task = (change: Partial<TaskWithAttemptStatus> = {}): TaskWithAttemptStatus =>
  ({
    id: "t1",
    project_id: "p1",
    title: "Add a rate limiter",
    status: "inreview",
    created_at: NOON,
    updated_at: NOON,
    ...change,
  }) as TaskWithAttemptStatus;

export const ask = (change: Partial<Approval> = {}): Approval =>
  ({
    approval_id: "k1",
    task_attempt_id: "a1",
    kind: "permission",
    state: "open",
    text: "Run: rm -rf build",
    tool_name: "Bash",
    requested_at: NOON,
    ...change,
  }) as Approval;

export function worldOf(things: {
  tasks?: TaskWithAttemptStatus[];
  attempts?: TaskAttempt[];
  asks?: Approval[];
}): World {
  return {
    version: 1,
    isKnown: true,
    problem: null,
    position: 1,
    projects: new Map(),
    tasks: new Map((things.tasks ?? []).map((it) => [it.id, it])),
    attempts: new Map((things.attempts ?? []).map((it) => [it.id, it])),
    runs: new Map(),
    asks: new Map((things.asks ?? []).map((it) => [it.approval_id, it])),
    drafts: new Map(),
  };
}
