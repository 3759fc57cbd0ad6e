// A copy of shared/types.ts, made by scripts/generate.mjs. Do not edit.

/** What every answer under /api is, but the few that are bare. */
export type ApiResponse<T, E = unknown> =
  | { success: true; data: T; error_data: null; message: null }
  | { success: false; data: null; error_data: E | null; message: string | null };

/** What a tool call does. */
export type ActionType = {
  action: "file_read";
  path: string;
} | {
  action: "file_edit";
  changes: Array<FileChange>;
  path: string;
} | {
  action: "command_run";
  command: string;
  result: CommandResult | null;
} | {
  action: "search";
  query: string;
} | {
  action: "web_fetch";
  url: string;
} | {
  action: "tool";
  arguments: unknown;
  result: ToolResult | null;
  tool_name: string;
} | {
  action: "task_create";
  description: string;
} | {
  action: "plan_presentation";
  plan: string;
} | {
  action: "todo_management";
  operation: string;
  todos: Array<Todo>;
} | {
  action: "other";
  description: string;
};

/** An agent that a file of the project describes. */
export type AgentFile = {
  /** Whether it wishes to be left alone (true) or followed (false). */
  background: boolean | null;
  collective: string | null;
  description: string | null;
  /** What starts it. */
  executor_profile_id: ExecutorProfileId;
  hidden: boolean;
  /** What a person calls it: its path below the folder of agents. */
  id: string;
  model: string | null;
  name: string | null;
  /** Where it lies in the repository. */
  path: string;
};

/** A file among the agents that cannot be used as it is. */
export type AgentFileWarning = {
  message: string;
  path: string;
};

/** The agents that a project's files describe, and the files that are not what their authors thought. */
export type AgentFiles = {
  agents: Array<AgentFile>;
  warnings: Array<AgentFileWarning>;
};

export type AgentOnMachine = {
  /** As `executors` has it. */
  executor: string;
  /** What that is: `built_in`, `program`, `npx`, `missing`, or `no_command` when its profile must name one. */
  found: string;
  install: string;
  /** There is something to run. */
  installed: boolean;
  log_in: string | null;
  /** Somebody has logged in; null when that cannot be seen. */
  logged_in: boolean | null;
  /** The variable or file that shows the login. */
  login_evidence: string | null;
  /** The program's path. */
  path: string | null;
  /** What to do before it can be used, in words. */
  remedy: string | null;
  title: string;
  /** It was played against the real program; otherwise only against what its documentation shows. */
  tried: boolean;
  version: string | null;
};

export type Approval = {
  /** The words that were given, or the reason of a refusal. */
  answer: string | null;
  answered_at: string | null;
  /** Who answered: a person and by which way, or a rule. */
  answered_by: string | null;
  /** The answers to several questions, by question. */
  answers: Record<string, string>;
  approval_id: string;
  execution_process_id: string;
  /** The answer holds for the like of it in the agent's session. */
  for_session: boolean;
  input: unknown;
  kind: AskKind;
  requested_at: string;
  /** Where it stands, more exactly than the status: cancelled and expired are two things. */
  state: AskState;
  status: ApprovalStatus;
  task_attempt_id: string;
  text: string;
  timeout_at: string;
  tool_name: string;
};

export type ApprovalResponse = {
  answers?: Record<string, string> | null;
  approved?: boolean | null;
  execution_process_id?: string | null;
  reason?: string | null;
  scope?: "once" | "session" | null;
  status?: unknown | null;
  text?: string | null;
};

/** Where an ask stands, in the contract's words. */
export type ApprovalStatus = {
  status: "pending";
} | {
  status: "approved";
} | {
  reason: string | null;
  status: "denied";
} | {
  status: "timed_out";
};

/** What kind of thing is asked. */
export type AskKind = "permission" | "question" | "plan";

/** Where an ask stands. Denied by a person, cancelled by a stop or the agent, and expired because its process ended first are three different things. */
export type AskState = "open" | "approved" | "denied" | "cancelled" | "expired";

export type AttachExistingPrRequest = {
  pr_number?: number | null;
};

export type AttachPrResponse = {
  pr_attached: boolean;
  pr_number: number | null;
  /** `open`, `merged`, `closed` or `unknown`. */
  pr_status: string | null;
  pr_url: string | null;
};

export type AttemptDisk = {
  attempt_id: string;
  runs_bytes: number;
  worktree_bytes: number;
};

/** A snapshot of an attempt's files. */
export type AttemptSnapshot = {
  /** What differs from the snapshot before, or from what the attempt began with; null when it cannot be told any more. */
  changes: ChangedFiles | null;
  created_at: string;
  /** The process at whose end it was taken. */
  execution_process_id: string | null;
  /** The commit that was checked out. */
  head: string | null;
  id: string;
  /** What is not in it. */
  left_out: Array<LeftOutFile>;
  /** Why it was taken: `turn`, or what was about to happen. */
  why: string;
};

/** Where an attempt stands. */
export type AttemptState = "running" | "finished" | "failed" | "stopped" | "queued" | "waiting" | "limited";

export type AuthRequired = {
  auth_required: boolean;
};

export type Board = {
  /** What agents wait for, oldest first. */
  approvals: Array<Approval>;
  /** Every attempt that has a task. Its own `task` is null where `tasks` has it. */
  attempts: Array<TaskAttempt>;
  /** Where to follow the events from: they tell everything that is not in here. */
  position: number;
  projects: Array<Project>;
  tasks: Array<TaskWithAttemptStatus>;
};

export type BranchStatus = {
  commits_ahead: number | null;
  commits_behind: number | null;
  conflict_op: ConflictOp | null;
  conflicted_files: Array<string>;
  has_uncommitted_changes: boolean | null;
  head_oid: string | null;
  is_rebase_in_progress: boolean;
  merges: Array<Merge>;
  remote_commits_ahead: number | null;
  remote_commits_behind: number | null;
  target_branch_name: string;
  uncommitted_count: number | null;
  untracked_count: number | null;
};

/** A dev server as a card shows it. */
export type CardDevServer = {
  port: number;
  run_id: string;
  url: string;
};

/** A pull request as a card shows it. */
export type CardPullRequest = {
  /** Null until the host was asked. */
  checks: PullRequestChecks | null;
  number: number;
  status: PullRequestStatus;
  url: string;
};

export type ChangeQueued = {
  position?: number | null;
  prompt?: string | null;
};

export type ChangeTargetBranch = {
  new_target_branch: string;
};

/** How many files differ. */
export type ChangedFiles = {
  added: number;
  changed: number;
  deleted: number;
};

export type ChangedTargetBranch = {
  new_target_branch: string;
  /** Commits that the attempt is ahead of its new target, and behind. */
  status: [number, number];
};

export type CheckTokenResponse = "VALID" | "INVALID";

export type Cleaned = {
  /** What stays although it is old or nobody's, and why. */
  left: Array<Left>;
  /** What went, or would go. */
  swept: Array<Swept>;
};

export type CollectGarbage = {
  dry_run?: boolean | null;
};

/** How a command ended. */
export type CommandResult = {
  exit_status: ExitStatus | null;
  output: string | null;
};

/** Which side of a diff a comment is about. */
export type CommentSide = "old" | "new";

export type CommitCompare = {
  ahead_from_head: number;
  behind_from_head: number;
  head_oid: string;
  is_linear: boolean;
  target_oid: string;
};

export type CommitInfo = {
  sha: string;
  subject: string;
};

export type ComparedWhat = "files" | "branch" | "landing" | "snapshots";

/** The person's settings; keys that this Forge does not know are kept. */
export type Config = {
  agents: {
    resume_when_limited: boolean;
    stalled_after_seconds: number;
    stalled_in_tool_after_seconds: number;
  };
  analytics_enabled: boolean | null;
  config_version?: "v7";
  contact_email_opt_in: boolean | null;
  contact_username_opt_in: boolean | null;
  dev_ports: {
    first: number;
    last: number;
  };
  disclaimer_acknowledged: boolean;
  editor: {
    custom_command: string | null;
    editor_type: "VS_CODE" | "CURSOR" | "WINDSURF" | "INTELLI_J" | "ZED" | "XCODE" | "CUSTOM";
    remote_ssh_host: string | null;
    remote_ssh_user: string | null;
  };
  executor_profile: {
    executor: string;
    variant?: string | null;
  };
  git_branch_prefix: string;
  github: {
    default_pr_base: string | null;
    oauth_token: string | null;
    pat: string | null;
    primary_email: string | null;
    username: string | null;
  };
  github_login_acknowledged: boolean;
  language: "BROWSER" | "EN" | "JA" | "ES" | "KO";
  last_app_version: string | null;
  limits: {
    max_running: number | null;
    max_running_per_project: number | null;
    min_free_mb: number | null;
  };
  notifications: {
    push_enabled: boolean;
    sound_enabled: boolean;
    sound_file: "ABSTRACT_SOUND1" | "ABSTRACT_SOUND2" | "ABSTRACT_SOUND3" | "ABSTRACT_SOUND4" | "GENIE_NOTIFY1" | "GENIE_NOTIFY2" | "PHONE_VIBRATION";
  };
  onboarding_acknowledged: boolean;
  removed: {
    keep_days: number | null;
  };
  runs: {
    keep_days: number | null;
    keep_mb: number | null;
  };
  scripts: {
    cleanup_seconds: number;
    setup_seconds: number;
  };
  show_release_notes: boolean;
  showcases: {
    seen_features: Array<string>;
  };
  snapshots: {
    file_mb: number;
    keep_days: number | null;
    keep_mb: number | null;
  };
  telemetry_acknowledged: boolean;
  theme: "LIGHT" | "DARK" | "SYSTEM";
  workspace_dir: string | null;
  worktree_pool: {
    disk_mb: number;
    from_files: number;
    ready: number;
  };
  worktrees: {
    expire_after_hours: number | null;
    tidy_after_hours: number | null;
  };
};

export type ConfigChange = Record<string, unknown>;

/** An operation of git that waits for its conflicts to be resolved. */
export type ConflictOp = "rebase" | "merge" | "cherry_pick" | "revert";

/** What a worktree belongs to. */
export type ContainerInfo = {
  attempt_id: string;
  project_id: string;
  /** Null for an attempt without a task. */
  task_id: string | null;
};

export type CreateAndStartTaskRequest = {
  base_branch?: string | null;
  executor_profile_id: ExecutorProfileId;
  fork_from?: string | null;
  resume_when_limited?: boolean | null;
  task: {
    description?: string | null;
    image_ids?: Array<string> | null;
    parent_task_attempt?: string | null;
    project_id?: string | null;
    title: string;
  };
  unattended?: boolean | null;
  use_worktree?: boolean | null;
};

export type CreateApproval = {
  session_id: string;
  tool_call_id?: string | null;
  tool_input?: unknown | null;
  tool_name: string;
};

export type CreateExecutionRun = {
  base_branch?: string | null;
  executor_profile_id: ExecutorProfileId;
  project_id: string;
  prompt: string;
};

export type CreateFollowUpAttempt = {
  comment_ids?: Array<string> | null;
  force_when_dirty?: boolean | null;
  image_ids?: Array<string> | null;
  perform_git_reset?: boolean | null;
  prompt: string;
  retry_process_id?: string | null;
  variant?: string | null;
};

export type CreateForgeAgent = {
  agent_type: string;
  project_id: string;
};

export type CreateGitHubPrRequest = {
  body?: string | null;
  target_branch?: string | null;
  title: string;
};

export type CreateProject = {
  cleanup_script?: string | null;
  commit_prompt?: string | null;
  copy_files?: string | null;
  default_base_branch?: string | null;
  dev_script?: string | null;
  git_repo_path: string;
  name: string;
  setup_script?: string | null;
  trust_filters?: boolean | null;
  use_existing_repo?: boolean | null;
};

export type CreateReviewComment = {
  end_line?: number | null;
  line: number;
  path: string;
  quote?: string | null;
  side?: "old" | "new" | null;
  text: string;
};

export type CreateTag = {
  content: string;
  tag_name: string;
};

export type CreateTask = {
  description?: string | null;
  image_ids?: Array<string> | null;
  parent_task_attempt?: string | null;
  project_id: string;
  title: string;
};

export type CreateTaskAttemptBody = {
  base_branch?: string | null;
  executor_profile_id: ExecutorProfileId;
  fork_from?: string | null;
  resume_when_limited?: boolean | null;
  task_id: string;
  unattended?: boolean | null;
  use_worktree?: boolean | null;
};

export type CreateTaskInProject = {
  description?: string | null;
  image_ids?: Array<string> | null;
  parent_task_attempt?: string | null;
  project_id?: string | null;
  title: string;
};

export type CreateTaskTemplate = {
  description?: string | null;
  project_id?: string | null;
  template_name: string;
  title?: string | null;
};

/** An ask that somebody beside the agent made, in the shape that its asker knows. */
export type CreatedApproval = {
  created_at: string;
  execution_process_id: string;
  id: string;
  session_id: string;
  timeout_at: string;
  tool_call_id: string | null;
  tool_input: unknown;
  tool_name: string;
};

export type DeviceFlowStart = {
  /** Seconds until the code is of no use. */
  expires_in: number;
  /** Seconds to wait between two polls. */
  interval: number;
  user_code: string;
  verification_uri: string;
};

export type DevicePollStatus = "SLOW_DOWN" | "AUTHORIZATION_PENDING" | "SUCCESS";

/** One file that differs. */
export type Diff = {
  /** Lines, when contents are omitted and can be counted. */
  additions: number | null;
  change: DiffChangeKind;
  /** Contents are too long, too many, behind a filter, or were not asked for. */
  contentOmitted: boolean;
  deletions: number | null;
  isBinary: boolean;
  newContent: string | null;
  newMode: string | null;
  newPath: string | null;
  /** None when there is none, it is binary, or it is omitted. */
  oldContent: string | null;
  /** As git writes it: `100644`, `100755`, `120000` for a link, `160000` for a repository inside. */
  oldMode: string | null;
  oldPath: string | null;
};

export type DiffChangeKind = "added" | "deleted" | "modified" | "renamed" | "permissionChange";

/** A file as the streams tell it. */
export type DiffEntry = {
  content: Diff;
  type: DiffTag;
};

/** What a message of this stream is. */
export type DiffMessage = {
  JsonPatch: Array<PatchOpDiffValue>;
} | {
  finished: boolean;
};

export type DiffTag = "DIFF";

/** One file under its path, or all of them by path. */
export type DiffValue = DiffEntry | Record<string, DiffEntry>;

export type DirectoryEntry = {
  is_directory: boolean;
  is_git_repo: boolean;
  /** How many seconds ago it was changed, where that is known. */
  last_modified: number | null;
  name: string;
  path: string;
};

export type DirectoryListResponse = {
  current_path: string;
  entries: Array<DirectoryEntry>;
};

export type Disk = {
  /** False when there was not time to count everything: each figure is at least what it says. */
  complete: boolean;
  database_bytes: number;
  /** Below this nothing is started. */
  floor_bytes: number;
  /** Free where the data is. */
  free_bytes: number | null;
  images_bytes: number;
  measured_at: string | null;
  projects: Array<ProjectDisk>;
  /** Of these, the logs of attempts that were removed. */
  removed_runs_bytes: number;
  runs_bytes: number;
  trash_bytes: number;
  worktrees_bytes: number;
  /** Free where the worktrees are. */
  worktrees_free_bytes: number | null;
};

export type DismissTaskAttempt = {
  undo?: boolean | null;
  until?: string | null;
};

/** A draft as streams send it. */
export type Draft = {
  created_at: string;
  draft_type: DraftKind;
  id: string;
  image_ids?: Array<string> | null;
  prompt: string;
  queued: boolean;
  retry_process_id?: string | null;
  sending: boolean;
  task_attempt_id: string;
  updated_at: string;
  variant: string | null;
  version: number;
};

/** What a draft is for. */
export type DraftKind = "follow_up" | "retry";

/** A draft as calls answer it. */
export type DraftResponse = {
  draft_type: DraftKind;
  image_ids: Array<string> | null;
  prompt: string;
  queued: boolean;
  retry_process_id: string | null;
  sending: boolean;
  task_attempt_id: string;
  variant: string | null;
  version: number;
};

/** The drafts of an attempt, one of them, or none. */
export type DraftValue = {
  follow_up: Draft;
  retry: Draft | null;
} | Draft | null;

/** What a message of this stream is. */
export type EntriesMessage = {
  JsonPatch: Array<PatchOpNormalizedLogEntry>;
} | LogEnd;

/** An entry in which a text was found. */
export type EntryHit = {
  /** Where in the snippet it begins and how long it is, in characters. */
  at: number;
  execution_process_id: string;
  index: number;
  length: number;
  /** The text and what stands around it, on one line. */
  snippet: string;
};

export type Environment = {
  bitness: string;
  os_architecture: string;
  os_type: string;
  os_version: string;
};

export type ExecutionProcess = {
  after_head_commit: string | null;
  before_head_commit: string | null;
  completed_at: string | null;
  created_at: string;
  dropped: boolean;
  execution_run_id: string | null;
  executor_action: ExecutorAction;
  exit_code: number | null;
  id: string;
  /** When Forge deleted the log of the run, because it was old or took too much room. */
  logs_deleted_at?: string | null;
  run_reason: ExecutionProcessRunReason;
  started_at: string;
  status: ExecutionProcessStatus;
  task_attempt_id: string | null;
  updated_at: string;
};

/** Why a run runs, in the contract's words. */
export type ExecutionProcessRunReason = "setupscript" | "cleanupscript" | "codingagent" | "devserver";

/** Where a run stands, in the contract's words, which has none for pending and lost. */
export type ExecutionProcessStatus = "running" | "completed" | "failed" | "killed";

export type ExecutionRun = {
  branch: string;
  container_ref: string | null;
  created_at: string;
  executor: string;
  id: string;
  open_asks: number;
  project_id: string;
  prompt: string;
  /** Its place among those that a limit holds back, counted from 1. */
  queue_place: number | null;
  queued: number;
  reason: string | null;
  state: AttemptState;
  status: ExecutionProcessStatus | null;
  target_branch: string;
  updated_at: string;
  variant: string | null;
  worktree_deleted: boolean;
};

export type ExecutorAction = {
  next_action: ExecutorAction | null;
  typ: ExecutorActionType;
};

export type ExecutorActionType = {
  executor_profile_id: ExecutorProfileId;
  prompt: string;
  type: "CodingAgentInitialRequest";
} | {
  executor_profile_id: ExecutorProfileId;
  prompt: string;
  session_id: string;
  type: "CodingAgentFollowUpRequest";
} | {
  context: string;
  language: string;
  script: string;
  type: "ScriptRequest";
};

/** An agent and one of its variants: `CLAUDE_CODE` or `CLAUDE_CODE:PLAN`. */
export type ExecutorProfileId = {
  /** The agent's name in upper case: `CLAUDE_CODE`. */
  executor: string;
  /** The variant; none means `GENIE`. */
  variant?: string | null;
};

/** The exit status of a command, as far as the agent tells it. */
export type ExitStatus = {
  code: number;
  type: "exit_code";
} | {
  success: boolean;
  type: "success";
};

/** How a tool call changes a file. */
export type FileChange = {
  action: "write";
  content: string;
} | {
  action: "delete";
} | {
  action: "rename";
  new_path: string;
} | {
  action: "edit";
  has_line_numbers: boolean;
  unified_diff: string;
};

/** What going back changed. */
export type FilesRestored = {
  /** What was left as it is, because a snapshot does not hold it. */
  left_alone: Array<LeftOutFile>;
  removed: Array<string>;
  /** The snapshot of the files as they were before: restore it to undo this. */
  undo_snapshot_id: string;
  written: Array<string>;
};

/** Something outside an attempt's worktree that changed while one of its processes was at work. */
export type Finding = {
  /** How it was found, for people; null when it was gone. */
  after: string | null;
  /** How it was, for people; null when it did not exist. */
  before: string | null;
  /** One act puts it back. */
  can_restore: boolean;
  created_at: string;
  execution_process_id: string | null;
  id: string;
  kind: FindingKind;
  settled_at: string | null;
  state: FindingState;
  /** What changed: a reference, a path. */
  subject: string;
  task_attempt_id: string;
  /** What was found, in a sentence. */
  text: string;
};

/** What kind of thing changed. */
export type FindingKind = "stash" | "config" | "hook" | "ref" | "head" | "info" | "worktree" | "index" | "file" | "own";

/** Where a finding stands. */
export type FindingState = "seen" | "restored" | "dismissed";

/** The run that took a follow-up, and how it took it. */
export type FollowUpProcess = {
  after_head_commit: string | null;
  before_head_commit: string | null;
  completed_at: string | null;
  created_at: string;
  delivered: HowDelivered;
  dropped: boolean;
  execution_run_id: string | null;
  executor_action: ExecutorAction;
  exit_code: number | null;
  id: string;
  /** When Forge deleted the log of the run, because it was old or took too much room. */
  logs_deleted_at?: string | null;
  run_reason: ExecutionProcessRunReason;
  started_at: string;
  status: ExecutionProcessStatus;
  task_attempt_id: string | null;
  updated_at: string;
};

export type ForgeAgent = {
  agent_type: string;
  /** `YYYY-MM-DD HH:MM:SS`, in UTC. */
  created_at: string;
  id: string;
  project_id: string;
  task_id: string;
  /** `YYYY-MM-DD HH:MM:SS`, in UTC. */
  updated_at: string;
};

/** Settings of a project, or of all. Keys that this server does not know are kept. */
export type ForgeProjectSettings = {
  omni_config: OmniConfig | null;
  omni_enabled: boolean;
};

export type ForgeRelease = {
  body: string | null;
  created_at: string;
  html_url: string;
  name: string;
  prerelease: boolean;
  published_at: string | null;
  tag_name: string;
};

export type GetMcpServerResponse = {
  config_path: string;
  mcp_config: McpConfig;
};

export type GitBranch = {
  is_current: boolean;
  is_remote: boolean;
  last_commit_date: string;
  name: string;
};

export type Health = {
  message: string;
  service: string;
  status: string;
  version: string;
};

/** A new run was started for it, the running one was told at once, or it waits for the turn's end. */
export type HowDelivered = "started" | "injected" | "queued";

export type ImageResponse = {
  created_at: string;
  file_path: string;
  hash: string;
  id: string;
  mime_type: string | null;
  original_name: string;
  size_bytes: number;
  updated_at: string;
};

export type Import = {
  dry_run?: boolean | null;
  images?: string | null;
  path?: string | null;
  source: "automagik-forge" | "vibe-kanban";
};

export type ImportCount = {
  added: number;
  found: number;
  /** Changed there and edited here: what is here stays. */
  kept: number;
  /** The word for many of them, such as `tasks`. */
  kind: string;
  /** Removed here since the last import, and not brought back. */
  removed_here: number;
  /** Could not be carried over. */
  skipped: number;
  unchanged: number;
  /** Changed there since the last import, and here too now. */
  updated: number;
};

export type ImportReport = {
  database: string;
  dry_run: boolean;
  logs: ImportedLogs;
  /** How many changes the schema of that database has seen, and the newest of them. */
  migrations: number;
  newest_migration: number;
  /** What was not carried over, or is otherwise than one might think, in sentences. */
  notes: Array<string>;
  /** Whose data it turned out to be: `automagik-forge` or `vibe-kanban`. */
  source: string;
  /** Of each kind of thing, what became of it. */
  things: Array<ImportCount>;
};

export type ImportUnderWay = {
  /** How many tasks were carried over, of how many; both are 0 until they were counted. */
  done: number;
  is_running: boolean;
  total: number;
};

export type ImportedLogs = {
  bad_lines: number;
  bytes: number;
  other_records: number;
  written: number;
};

/** An entry of a run, by its index. */
export type IndexedEntry = {
  entry: NormalizedEntry;
  index: number;
};

export type Left = {
  path: string;
  task_attempt_id: string | null;
  why: string;
};

/** A file that is not in a snapshot. */
export type LeftOutFile = {
  path: string;
  why: string;
};

/** What a merge or a push did besides: there was something uncommitted, and it is a commit now. Without anything, nothing is answered, as ever. */
export type Leftovers = {
  leftovers_commit: string;
};

/** What the server sends. */
export type LiveMessage = {
  finished?: boolean;
  position: number;
  topic: string;
  value: LiveValue;
} | {
  position: number;
  resync: boolean;
  topic: string;
} | {
  error: string;
  topic: string | null;
};

/** What a topic tells. */
export type LiveValue = Patch | Array<RawLogPiece> | Array<IndexedEntry> | Array<PatchOpDiffValue>;

/** How a log says that nothing more comes. */
export type LogEnd = {
  finished: boolean;
  type: string;
} | {
  caught_up: boolean;
};

/** What a message of such a stream is. */
export type MapOfDraftValue = {
  JsonPatch: Array<PatchOpMapValueOfDraftValue>;
};

/** What a message of such a stream is. */
export type MapOfExecutionProcess = {
  JsonPatch: Array<PatchOpMapValueOfExecutionProcess>;
};

/** What a message of such a stream is. */
export type MapOfTaskWithAttemptStatus = {
  JsonPatch: Array<PatchOpMapValueOfTaskWithAttemptStatus>;
};

/** The whole map under its name, or one thing under its id. */
export type MapValueOfDraftValue = DraftValue | Record<string, DraftValue>;

/** The whole map under its name, or one thing under its id. */
export type MapValueOfExecutionProcess = ExecutionProcess | Record<string, ExecutionProcess>;

/** The whole map under its name, or one thing under its id. */
export type MapValueOfTaskWithAttemptStatus = TaskWithAttemptStatus | Record<string, TaskWithAttemptStatus>;

export type McpConfig = {
  is_toml_config: boolean;
  preconfigured: unknown;
  servers: Record<string, unknown>;
  servers_path: Array<string>;
  template: unknown;
};

/** How the work of an attempt went to its target. */
export type Merge = {
  created_at: string;
  id: string;
  merge_commit: string;
  target_branch_name: string;
  task_attempt_id: string;
  type: "direct";
} | {
  created_at: string;
  id: string;
  pr_info: PullRequestInfo;
  target_branch_name: string;
  task_attempt_id: string;
  type: "pr";
};

export type MergeTaskAttempt = {
  skip_hooks?: boolean | null;
};

/** One normalised item of a run's log. */
export type NormalizedEntry = {
  content: string;
  entry_type: NormalizedEntryType;
  metadata: unknown;
  timestamp: string | null;
};

/** Which error an error entry shows. */
export type NormalizedEntryError = {
  type: "setup_required";
} | {
  type: "other";
};

/** What an entry is. */
export type NormalizedEntryType = {
  type: "user_message";
} | {
  denied_tool: string;
  type: "user_feedback";
} | {
  type: "assistant_message";
} | {
  action_type: ActionType;
  status: ToolStatus;
  tool_name: string;
  type: "tool_use";
} | {
  type: "system_message";
} | {
  error_type: NormalizedEntryError;
  type: "error_message";
} | {
  type: "thinking";
} | {
  type: "loading";
};

/** An entry in a list of a run's entries. */
export type NormalizedLogEntry = {
  content: NormalizedEntry;
  type: string;
};

/** What a notice tells. */
export type NoticeKind = "finished" | "failed" | "asked";

/** What became of a notice. */
export type NoticeStatus = "pending" | "sent" | "failed";

export type OmniConfig = {
  /** Masked; sent back, the mask keeps the key. */
  api_key: string | null;
  enabled: boolean;
  host: string | null;
  instance: string | null;
  recipient: string | null;
  recipient_type: string | null;
};

export type OmniInstance = {
  channel_type: string;
  display_name: string;
  instance_name: string;
  is_healthy: boolean;
  status: string;
};

export type OmniInstances = {
  error?: string | null;
  instances: Array<OmniInstance>;
};

export type OmniNotification = {
  /** `YYYY-MM-DD HH:MM:SS`, in UTC. */
  created_at: string;
  error_message: string | null;
  id: string;
  message: string | null;
  metadata: unknown;
  notification_type: NoticeKind;
  /** `YYYY-MM-DD HH:MM:SS`, in UTC. */
  sent_at: string | null;
  status: NoticeStatus;
  task_id: string | null;
};

export type OmniNotifications = {
  notifications: Array<OmniNotification>;
};

export type OmniStatus = {
  config: OmniConfig | null;
  enabled: boolean;
};

export type OmniValidation = {
  error: string | null;
  instances: Array<OmniInstance>;
  valid: boolean;
};

export type OpenEditorRequest = {
  editor_type?: "VS_CODE" | "CURSOR" | "WINDSURF" | "INTELLI_J" | "ZED" | "XCODE" | "CUSTOM" | null;
  file_path?: string | null;
  line?: number | null;
};

export type OpenEditorResponse = {
  /** Where an editor on the person's own machine finds it; null when one was started on the server's. */
  url: string | null;
};

export type OpenSession = {
  token: string;
};

/** The operations of one batch of changes. */
export type Patch = Array<PatchOpThing>;

export type PatchOpDiffValue = {
  op: string;
  path: string;
  value?: DiffValue | null;
};

export type PatchOpMapValueOfDraftValue = {
  op: string;
  path: string;
  value?: MapValueOfDraftValue | null;
};

export type PatchOpMapValueOfExecutionProcess = {
  op: string;
  path: string;
  value?: MapValueOfExecutionProcess | null;
};

export type PatchOpMapValueOfTaskWithAttemptStatus = {
  op: string;
  path: string;
  value?: MapValueOfTaskWithAttemptStatus | null;
};

export type PatchOpNormalizedLogEntry = {
  op: string;
  path: string;
  value?: NormalizedLogEntry | null;
};

export type PatchOpRawLogPiece = {
  op: string;
  path: string;
  value?: RawLogPiece | null;
};

export type PatchOpThing = {
  op: string;
  path: string;
  value?: Thing | null;
};

/** What a message of the plainer stream is; it ends as the other does. */
export type PlainLogMessage = {
  Stdout: string;
} | {
  Stderr: string;
} | LogEnd;

/** Why something was refused or failed. */
export type Problem = {
  data: null;
  error_data: unknown;
  message: string | null;
  success: false;
};

export type ProfilesContent = {
  content: string;
  path: string;
};

export type Project = {
  cleanup_script: string | null;
  commit_prompt: string | null;
  copy_files: string | null;
  created_at: string;
  default_base_branch: string | null;
  dev_script: string | null;
  git_repo_path: string;
  id: string;
  name: string;
  setup_script: string | null;
  trust_filters: boolean;
  updated_at: string;
};

/** How a project's checkout stands to its remote, in the shape of an attempt's branch status. */
export type ProjectBranchStatus = {
  commits_ahead: number | null;
  /** Null when the remote could not be asked. */
  commits_behind: number | null;
  conflict_op: string | null;
  conflicted_files: Array<string>;
  has_uncommitted_changes: boolean | null;
  head_oid: string | null;
  is_rebase_in_progress: boolean;
  /** Always empty: a project is merged nowhere. */
  merges: Array<string>;
  remote_commits_ahead: number | null;
  /** The same counts again: what the checkout is compared with is the remote's. */
  remote_commits_behind: number | null;
  target_branch_name: string;
  uncommitted_count: number | null;
  untracked_count: number | null;
};

export type ProjectDisk = {
  attempts: Array<AttemptDisk>;
  name: string;
  project_id: string;
  runs_bytes: number;
  worktrees_bytes: number;
};

/** Every agent's variants, those of the project's own files included. */
export type ProjectProfiles = {
  executors: Record<string, unknown>;
};

/** How many checks of a pull request ended well, ended badly, and have not ended. */
export type PullRequestChecks = {
  failed: number;
  passed: number;
  waiting: number;
};

export type PullRequestInfo = {
  /** Null until the host was asked. */
  checks: PullRequestChecks | null;
  merge_commit_sha: string | null;
  merged_at: string | null;
  number: number;
  status: PullRequestStatus;
  url: string;
};

/** What has become of a pull request. */
export type PullRequestStatus = "open" | "merged" | "closed" | "unknown";

/** What came of a pull. It has no envelope. */
export type PullResponse = {
  /** Why nothing was pulled. */
  details?: string | null;
  message: string;
  success: boolean;
};

export type QueueDraft = {
  expected_queued?: boolean | null;
  expected_version?: number | null;
  prompt?: string | null;
  queued: boolean;
};

/** It waits, or its turn is being started right now. */
export type QueueState = "queued" | "sending";

/** A follow-up that waits for the turn's end. */
export type QueuedFollowUp = {
  /** The review comments that it takes along; taken out of the queue, it gives them back. */
  comment_ids: Array<string>;
  created_at: string;
  id: string;
  image_ids: Array<string> | null;
  /** Counted from 0, which is sent first. */
  position: number;
  prompt: string;
  state: QueueState;
  variant: string | null;
};

/** What a message of this stream is. */
export type RawLogMessage = RawLogPatch | LogEnd;

export type RawLogPatch = {
  JsonPatch: Array<PatchOpRawLogPiece>;
  /** Where to resume: `?from=` this. */
  position: number;
};

/** What a run printed on one of its streams. */
export type RawLogPiece = {
  content: string;
  type: string;
};

export type RebaseTaskAttempt = {
  new_base_branch?: string | null;
  old_base_branch?: string | null;
  skip_hooks?: boolean | null;
};

/** What was brought back. */
export type RecoveredEntry = {
  attempts: number;
  id: string;
  kind: string;
  /** What is not as it was, in sentences. */
  notes: Array<string>;
  tasks: number;
};

/** Something that was removed and can be brought back. */
export type RemovedEntry = {
  /** Where the files of an attempt are: `trash` with ignored ones, `snapshot` without, or only on its `branch`. */
  files: string | null;
  id: string;
  /** `project`, `task` or `attempt`. */
  kind: string;
  name: string;
  project_id: string | null;
  removed_at: string;
  task_id: string | null;
};

export type ReplaceProcessRequest = {
  executor_profile_id?: ExecutorProfileId | null;
  force_when_dirty?: boolean | null;
  perform_git_reset?: boolean | null;
  process_id?: string | null;
  prompt: string;
  variant?: string | null;
};

/** What became of a turn that was replaced. */
export type ReplaceProcessResult = {
  deleted_count: number;
  git_reset_applied: boolean;
  git_reset_needed: boolean;
  new_execution_id: string | null;
  target_before_oid: string | null;
};

/** An approval's status inside the envelope and beside it: clients of either kind find it. */
export type Responded = {
  data: ApprovalStatus;
  error_data: unknown;
  message: string | null;
  /** Where it stands, more exactly than the status: cancelled and expired are two things. */
  state: AskState;
  success: boolean;
} & ({
  status: "pending";
} | {
  status: "approved";
} | {
  reason: string | null;
  status: "denied";
} | {
  status: "timed_out";
});

export type RestoreFilesRequest = {
  paths?: Array<string> | null;
  snapshot_id: string;
};

export type ReviewComment = {
  created_at: string;
  /** The last line it is about. */
  end_line: number;
  id: string;
  /** Counted from 1. */
  line: number;
  path: string;
  /** What the lines said when it was written. */
  quote: string;
  /** When it was sent to the agent; null while it waits. */
  sent_at: string | null;
  side: CommentSide;
  task_attempt_id: string;
  text: string;
  updated_at: string;
};

export type ReviewCommentsSent = {
  ids: Array<string>;
};

export type Route = {
  method: string;
  /** What the OpenAPI document and the SDK call it. */
  operation: string | null;
  path: string;
  /** Always true: every route that clients know is served. */
  served: boolean;
  summary: string | null;
};

export type RouteTable = {
  routes: Array<Route>;
  version: string;
};

/** A rule of a project: what its agents may do without asking, or not at all. */
export type Rule = {
  about: RuleAbout;
  effect: RuleEffect;
  /** The first words of a command, or the name of a tool; null for tools that only read. */
  pattern: string | null;
  /** The rule in words. */
  text: string;
};

/** What a rule looks at. */
export type RuleAbout = "read_only" | "command" | "tool";

/** What becomes of an ask that a rule fits. */
export type RuleEffect = "allow" | "deny" | "ask";

export type RunAgentSetupRequest = {
  executor_profile_id: ExecutorProfileId;
};

/** Nothing stands in the way. */
export type RunAgentSetupResponse = Record<string, unknown>;

/** How many entries a run has, and from where more of them are told. */
export type RunEntryCount = {
  /** Where to follow `entries:<run id>` from: what changed later may not be in here. Null to follow from the first. */
  after: number | null;
  /** Null while they are being made. */
  entries: number | null;
  id: string;
  /** The run is over, and has no more than these. */
  is_over: boolean;
};

export type SaveDraft = {
  image_ids?: Array<string> | null;
  prompt?: string | null;
  retry_process_id?: string | null;
  variant?: string | null;
  version?: number | null;
};

export type SearchMatchType = "FileName" | "DirectoryName" | "FullPath";

export type SearchResult = {
  is_file: boolean;
  match_type: SearchMatchType;
  /** The path from the top of the project. */
  path: string;
};

export type SetRules = {
  rules: Array<{
    about: "read_only" | "command" | "tool";
    effect: "allow" | "deny" | "ask";
    pattern?: string | null;
  }>;
};

/** An execution run that was started, and its first process, which exists; none when a limit holds it back. */
export type StartedExecutionRun = {
  execution_process: ExecutionProcess | null;
  execution_run: ExecutionRun;
};

/** The task that was created, and the attempt that was started, under every key a client looks for it. */
export type StartedTask = {
  attempt: TaskAttempt;
  attempt_count: number;
  attempt_id: string;
  attempts: Array<TaskAttempt>;
  created_at: string;
  description: string | null;
  dev_server_id: string | null;
  executor: string;
  has_in_progress_attempt: boolean;
  has_merged_attempt: boolean;
  id: string;
  last_attempt_failed: boolean;
  last_attempt_id: string | null;
  parent_task_attempt: string | null;
  /** Its place in the order by hand; lower is higher, and a new task stands above all others. */
  position: number;
  project_id: string;
  status: TaskStatus;
  task: Task;
  title: string;
  updated_at: string;
};

export type Swept = {
  bytes: number | null;
  /** Where it is or was; of what was removed, its kind and its id. */
  path: string;
  reason: string;
  task_attempt_id: string | null;
  /** `worktree`, `ignored`, `stray`, `empty`, `trash`, `log` or `removed`. */
  what: string;
};

export type Tag = {
  content: string;
  created_at: string;
  id: string;
  tag_name: string;
  updated_at: string;
};

export type Task = {
  created_at: string;
  description: string | null;
  dev_server_id: string | null;
  id: string;
  parent_task_attempt: string | null;
  project_id: string;
  status: TaskStatus;
  title: string;
  updated_at: string;
};

export type TaskAttempt = {
  /** What its agent does now, in a few words; null when none runs or nobody knows. */
  activity: string | null;
  branch: string;
  branch_name: string;
  cache_creation_tokens: number | null;
  cache_read_tokens: number | null;
  /** Review comments that were not sent yet. */
  comments: number;
  container_ref: string | null;
  /** Millionths of a US dollar that it has cost, where its agent tells. */
  cost_micros: number | null;
  created_at: string;
  /** Its dev server that runs. */
  dev_server: CardDevServer | null;
  /** When a person put it aside. */
  dismissed_at: string | null;
  executor: string;
  executor_profile_id: ExecutorProfileId;
  /** What differs from where its branch left the target, as it was last computed; null until then. */
  files_changed: number | null;
  /** Changes outside its worktree that were found after its runs and are open. */
  findings: number;
  /** The attempt whose conversation its own branched off. */
  forked_from: string | null;
  id: string;
  /** It works in the person's own checkout, where Forge changes nothing. */
  in_place: boolean;
  input_tokens: number | null;
  is_conflicted: boolean;
  is_merged: boolean;
  /** The newest run but dev servers. */
  last_run_id: string | null;
  /** Until when a person put it aside. */
  later_until: string | null;
  /** When the limit of its agent's provider is over; null when nobody said, or there is none. */
  limited_until: string | null;
  lines_added: number | null;
  lines_deleted: number | null;
  open_asks: number;
  output_tokens: number | null;
  /** The first line of the setup script that runs; null when none does. */
  preparing: string | null;
  project_id: string;
  /** The newest one. */
  pull_request: CardPullRequest | null;
  /** Its place among those that a limit holds back, counted from 1. */
  queue_place: number | null;
  queued: number;
  reason: string | null;
  /** It goes on by itself when such a limit is over; null means as the settings say. */
  resume_when_limited: boolean | null;
  /** When a person last looked at it. */
  seen_at: string | null;
  setup_completed_at: string | null;
  /** Why it seems to be stuck, in a sentence; null while it does not. */
  stalled: string | null;
  state: AttemptState;
  /** When it came into the state it is in, into a conflict, or to seem stuck. */
  state_since: string;
  status: ExecutionProcessStatus | null;
  target_branch: string;
  task: Task | null;
  task_id: string | null;
  /** How much of its agent's newest to-do list is done; null when there was none. */
  todos_done: number | null;
  todos_total: number | null;
  /** How often its agent was told something. */
  turns: number;
  /** Nobody is there to answer: what its agent asks is answered by rule. */
  unattended: boolean;
  updated_at: string;
  worktree_deleted: boolean;
  worktree_path: string | null;
};

/** Everything that an attempt has changed. */
export type TaskAttemptDiff = {
  /** The commit that was compared with; null means an empty tree. */
  base_commit: string | null;
  diffs: Array<Diff>;
  of: ComparedWhat;
};

/** Some entries of an attempt, newest last. */
export type TaskAttemptEntries = {
  /** There are later ones: `?after=` this. Null when these are the last. */
  after: string | null;
  /** There are earlier ones: `?before=` this. Null when these are the first. */
  before: string | null;
  entries: Array<TaskAttemptEntry>;
  has_more: boolean;
  has_newer: boolean;
  /** Where a text was found, newest first; null when none was looked for. */
  hits: Array<EntryHit> | null;
  /** The agent's runs, oldest first. */
  runs: Array<RunEntryCount>;
  /** How many there are in all; null while those of some run are being made. */
  total: number | null;
};

/** An entry of an attempt, and where it stands. */
export type TaskAttemptEntry = {
  entry: NormalizedEntry;
  execution_process_id: string;
  /** Its index in the entries of that run. */
  index: number;
};

/** The tasks that an attempt is related to. */
export type TaskRelationships = {
  children: Array<Task>;
  current_attempt: TaskAttempt;
  /** The parent task again, under the key that an older client reads. */
  parent: Task | null;
  parent_task: Task | null;
};

/** Where a task stands on the board. */
export type TaskStatus = "todo" | "inprogress" | "inreview" | "done" | "cancelled" | "archived" | "agent";

export type TaskTemplate = {
  created_at: string;
  description: string | null;
  id: string;
  project_id: string | null;
  template_name: string;
  title: string;
  updated_at: string;
};

export type TaskWithAttemptStatus = {
  attempt_count: number;
  created_at: string;
  description: string | null;
  dev_server_id: string | null;
  executor: string;
  has_in_progress_attempt: boolean;
  has_merged_attempt: boolean;
  id: string;
  last_attempt_failed: boolean;
  last_attempt_id: string | null;
  parent_task_attempt: string | null;
  /** Its place in the order by hand; lower is higher, and a new task stands above all others. */
  position: number;
  project_id: string;
  status: TaskStatus;
  title: string;
  updated_at: string;
};

export type Thing = Project | TaskWithAttemptStatus | TaskAttempt | ExecutionRun | ExecutionProcess | Approval | Draft;

/** One item of an agent's to-do list. */
export type Todo = {
  content: string;
  priority: string | null;
  status: string;
};

/** What a tool gave back. */
export type ToolResult = {
  type: ToolResultKind;
  value: unknown;
};

/** How to show what a tool gave back. */
export type ToolResultKind = {
  type: "markdown";
} | {
  type: "json";
};

/** Where a tool call stands. */
export type ToolStatus = {
  status: "created";
} | {
  status: "success";
} | {
  status: "failed";
} | {
  reason: string | null;
  status: "denied";
} | {
  approval_id: string;
  requested_at: string;
  status: "pending_approval";
  timeout_at: string;
} | {
  status: "timed_out";
};

export type UpdateForgeProjectSettings = {
  omni_config?: {
    api_key?: string | null;
    enabled?: boolean | null;
    host?: string | null;
    instance?: string | null;
    recipient?: string | null;
    recipient_type?: "PhoneNumber" | "UserId" | null;
  } | null;
  omni_enabled?: boolean | null;
};

export type UpdateMcpServers = {
  servers: Record<string, unknown>;
};

export type UpdateProject = {
  cleanup_script?: string | null;
  commit_prompt?: string | null;
  copy_files?: string | null;
  default_base_branch?: string | null;
  dev_script?: string | null;
  git_repo_path?: string | null;
  name?: string | null;
  setup_script?: string | null;
  trust_filters?: boolean | null;
};

export type UpdateReviewComment = {
  end_line?: number | null;
  line?: number | null;
  quote?: string | null;
  text?: string | null;
};

export type UpdateTag = {
  content?: string | null;
  tag_name?: string | null;
};

export type UpdateTask = {
  description?: string | null;
  image_ids?: Array<string> | null;
  parent_task_attempt?: string | null;
  position?: {
    before?: string | null;
  } | null;
  status?: "todo" | "inprogress" | "inreview" | "done" | "cancelled" | "agent" | "archived" | null;
  title?: string | null;
};

export type UpdateTaskTemplate = {
  description?: string | null;
  template_name?: string | null;
  title?: string | null;
};

/** What agents used, summed up under one key. What an agent does not tell is null, and not 0. */
export type Usage = {
  cache_creation_tokens: number | null;
  cache_read_tokens: number | null;
  /** Millionths of a US dollar. */
  cost_micros: number | null;
  input_tokens: number | null;
  /** A day in UTC, an agent, the id of a project, a task or an attempt, or a process and its turn. */
  key: string;
  last_at: string;
  output_tokens: number | null;
  turns: number;
};

export type UserSystemInfo = {
  /** Which agents are on this machine, in the order of their names. Nothing was started to find out. */
  agents: Array<AgentOnMachine>;
  /** Nobody is counted; the key is there because clients read it. */
  analytics_user_id: string;
  capabilities: Record<string, Array<string>>;
  config: Config;
  environment: Environment;
  executors: Record<string, unknown>;
  /** The data directory is a copy of another, and can only be read until it is adopted. */
  is_copy: boolean;
  /** What the owner should know about the server itself, one sentence each: a database that is damaged, a full disk, a data directory that is a copy. */
  warnings: Array<string>;
};

export type ValidateOmni = {
  api_key: string;
  host: string;
};
