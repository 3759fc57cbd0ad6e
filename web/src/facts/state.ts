// What state a task or an attempt is in, in the words that every page uses, and why. Nothing here asks or draws.

import type {
  Approval,
  PullRequestChecks,
  TaskAttempt,
  TaskStatus,
  TaskWithAttemptStatus,
} from "../api/types";
import type { IconName } from "../ui/Icon";
import { counted } from "../ui/numbers";
import { clock } from "./clock";
import { wantedLine } from "./wanted";

export type State =
  | "wish"
  | "queued"
  | "preparing"
  | "running"
  | "asks approval"
  | "asks question"
  | "asks plan"
  | "stalled"
  | "limited"
  | "failed"
  | "stopped"
  | "review"
  | "conflict"
  | "pull request"
  | "done"
  | "archived"
  | "cancelled"
  | "unknown";

export type Tone = "quiet" | "running" | "ask" | "fail" | "done" | "neutral";

/** How a state looks, in one place: the icon's silhouette carries it, the colour only speeds it up. */
export const LOOKS: Record<State, { icon: IconName | null; words: string; tone: Tone }> = {
  wish: { icon: null, words: "wish", tone: "quiet" },
  queued: { icon: "dots", words: "queued", tone: "quiet" },
  preparing: { icon: "gear", words: "preparing", tone: "quiet" },
  running: { icon: "running", words: "running", tone: "running" },
  "asks approval": { icon: "hand", words: "asks: approval", tone: "ask" },
  "asks question": { icon: "question", words: "asks: question", tone: "ask" },
  "asks plan": { icon: "list", words: "asks: plan", tone: "ask" },
  stalled: { icon: "hourglass", words: "stalled", tone: "ask" },
  limited: { icon: "clock", words: "limited", tone: "quiet" },
  failed: { icon: "failed", words: "failed", tone: "fail" },
  stopped: { icon: "stopped", words: "stopped", tone: "quiet" },
  review: { icon: "review", words: "to review", tone: "neutral" },
  conflict: { icon: "conflict", words: "conflict", tone: "fail" },
  "pull request": { icon: "fork", words: "pull request", tone: "neutral" },
  done: { icon: "done", words: "done", tone: "done" },
  archived: { icon: null, words: "archived", tone: "quiet" },
  cancelled: { icon: null, words: "cancelled", tone: "quiet" },
  unknown: { icon: "unknown", words: "checking", tone: "quiet" },
};

/** The columns of the board, in the board's words and the API's. */
export const COLUMNS = [
  { id: "todo", words: "Wish", empty: "Nothing planned." },
  { id: "inprogress", words: "Forge", empty: "No agent is working." },
  { id: "inreview", words: "Review", empty: "Nothing to review." },
  { id: "done", words: "Done", empty: "Nothing landed yet." },
  { id: "archived", words: "Archived", empty: "Nothing archived." },
  { id: "cancelled", words: "Cancelled", empty: "Nothing cancelled." },
] as const satisfies ReadonlyArray<{ id: TaskStatus; words: string; empty: string }>;

export type ColumnId = (typeof COLUMNS)[number]["id"];

export const isColumn = (status: TaskStatus): status is ColumnId => status !== "agent";

export const columnWords = (id: ColumnId) => COLUMNS.find((column) => column.id === id)?.words ?? id;

export type Facts = {
  state: State;
  /** Why, in one line; null when the state says it all. */
  reason: string | null;
  /** When it came into this state. */
  since: string;
  /** The attempt that this is about. */
  attempt: TaskAttempt | null;
  /** The oldest open ask of that attempt. */
  ask: Approval | null;
};

/** The state of one attempt. `asks` are its open ones, the oldest first. */
export function attemptFacts(attempt: TaskAttempt, asks: readonly Approval[]): Facts {
  const ask = asks[0] ?? null;
  const facts = (state: State, reason: string | null = null, since = attempt.state_since): Facts => ({
    state,
    reason,
    since,
    attempt,
    ask,
  });
  if (ask) return facts(`asks ${askWord(ask)}`, askLine(ask), ask.requested_at);
  switch (attempt.state) {
    case "queued":
      return facts(
        "queued",
        attempt.queue_place ? `Waiting for a free place, number ${attempt.queue_place}.` : null,
      );
    case "limited":
      return facts("limited", limitLine(attempt));
    case "running":
    case "waiting":
      if (attempt.preparing) return facts("preparing", `Setup: ${attempt.preparing}`);
      if (attempt.stalled) return facts("stalled", attempt.stalled);
      return facts("running", attempt.activity);
    case "failed":
      return facts("failed", attempt.reason);
    case "stopped":
      return facts("stopped", "You stopped it.");
    case "finished":
      if (attempt.is_merged) return facts("done");
      if (attempt.is_conflicted) return facts("conflict", `Conflicts with ${attempt.target_branch}.`);
      if (attempt.pull_request?.status === "open")
        return facts("pull request", requestLine(attempt.pull_request));
      return facts("review");
  }
}

/** The state of a task: that of its most pressing attempt, seen from the column it is in. */
export function taskFacts(
  task: TaskWithAttemptStatus,
  attempts: readonly TaskAttempt[],
  asksOf: (attempt: string) => readonly Approval[],
): Facts {
  const all = attempts.map((attempt) => attemptFacts(attempt, asksOf(attempt.id)));
  const best = all.reduce<Facts | null>(
    (best, facts) => (best && pressing(best) <= pressing(facts) ? best : facts),
    null,
  );
  const plain = (state: State): Facts => ({
    state,
    reason: null,
    since: task.updated_at,
    attempt: best?.attempt ?? null,
    ask: null,
  });
  if (best && pressing(best) <= PRESSING.indexOf("limited")) return best;
  if (task.status === "archived" || task.status === "cancelled") return plain(task.status);
  if (task.status === "done") return plain("done");
  if (!best) return plain(task.status === "todo" ? "wish" : "review");
  if (task.status === "todo")
    return best.state === "failed" || best.state === "conflict" ? best : plain("wish");
  return best;
}

/** What an agent waits for or is at comes before what has ended; of equals the newest attempt, which comes first. */
const PRESSING: readonly State[] = [
  "asks approval",
  "asks question",
  "asks plan",
  "stalled",
  "running",
  "preparing",
  "queued",
  "limited",
  "conflict",
  "pull request",
  "review",
  "failed",
  "stopped",
  "done",
];
const pressing = (facts: Facts) => PRESSING.indexOf(facts.state);

export const askWord = (ask: Approval) =>
  ask.kind === "question" ? "question" : ask.kind === "plan" ? "plan" : "approval";

/** The one line that says what an agent asks. */
export function askLine(ask: Approval): string {
  if (ask.kind === "plan") return "Plan ready.";
  if (ask.kind === "question") return firstLine(ask.text) || ask.tool_name;
  return wantedLine(ask);
}

function requestLine({ number, checks }: NonNullable<TaskAttempt["pull_request"]>): string {
  const words = checks && checkWords(checks);
  return words ? `#${number}, ${words}` : `#${number}`;
}

/** What the checks of a pull request came to; null when it has none. What failed is said before all have ended. */
export function checkWords({ passed, failed, waiting }: PullRequestChecks): string | null {
  const all = passed + failed + waiting;
  if (all === 0) return null;
  if (failed > 0) return `${failed} of ${counted(all, "check")} failed`;
  return waiting > 0 ? `${passed} of ${counted(all, "check")} passed` : `${counted(all, "check")} passed`;
}

function limitLine(attempt: TaskAttempt): string {
  const until = attempt.limited_until ? ` until ${clock(attempt.limited_until)}` : "";
  return `Usage limit${until}${attempt.resume_when_limited ? ", resumes by itself." : "."}`;
}

export const firstLine = (text: string) => text.trimStart().split("\n", 1)[0]?.trimEnd() ?? "";
