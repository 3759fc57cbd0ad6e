// The types of the server's API, as the generated file has them.
import type * as Told from "../../../shared/types";

export type * from "../../../shared/types";

// BEGIN not generated yet: each of these goes when the generated file has it.
export type TaskAttempt = Told.TaskAttempt & {
  activity: string | null;
  preparing: string | null;
  todos_done: number | null;
  todos_total: number | null;
  state_since: string;
  files_changed: number | null;
  lines_added: number | null;
  lines_deleted: number | null;
  pull_request: { number: number; url: string; status: Told.PullRequestStatus } | null;
  seen_at: string | null;
  dismissed_at: string | null;
  later_until: string | null;
  comments: number;
  dev_server: { run_id: string; port: number; url: string } | null;
  last_run_id: string | null;
};
export type TaskWithAttemptStatus = Told.TaskWithAttemptStatus & {
  position: number;
  last_attempt_id: string | null;
};
export type Board = {
  position: number;
  projects: Told.Project[];
  tasks: TaskWithAttemptStatus[];
  attempts: TaskAttempt[];
  approvals: Told.Approval[];
};
// END
