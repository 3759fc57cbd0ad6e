// Made by scripts/generate.mjs from the OpenAPI document of the server. Do not edit.

import type { CallOptions, FollowOptions, Given, OperationSpec, ServerEvent, Subscription } from './transport.js';
import type * as T from './types.js';

/** Every operation of the API: how it is called and what comes back. */
export const operations = {
  abortTaskAttemptConflicts: {"method":"POST","path":"/api/task-attempts/{attempt_id}/conflicts/abort","gives":"data"},
  apiHealth: {"method":"GET","path":"/api/health","gives":"data"},
  attachPullRequest: {"method":"POST","path":"/api/task-attempts/{attempt_id}/pr/attach","gives":"data"},
  changeQueued: {"method":"PUT","path":"/api/task-attempts/{attempt_id}/queue/{item}","gives":"data"},
  changeTaskAttemptTargetBranch: {"method":"POST","path":"/api/task-attempts/{attempt_id}/change-target-branch","gives":"data"},
  checkGithubToken: {"method":"GET","path":"/api/auth/github/check","gives":"data"},
  collectGarbage: {"method":"POST","path":"/api/gc","gives":"data"},
  compareCommitToHead: {"method":"GET","path":"/api/task-attempts/{attempt_id}/commit-compare","gives":"data"},
  continueTaskAttemptConflicts: {"method":"POST","path":"/api/task-attempts/{attempt_id}/conflicts/continue","gives":"data"},
  createAndStartTask: {"method":"POST","path":"/api/tasks/create-and-start","gives":"data","repeatable":true},
  createAndStartTaskInProject: {"method":"POST","path":"/api/projects/{project_id}/tasks/create-and-start","gives":"data","repeatable":true},
  createApproval: {"method":"POST","path":"/api/approvals/create","gives":"data"},
  createExecutionRun: {"method":"POST","path":"/api/execution-runs","gives":"data","repeatable":true},
  createForgeAgent: {"method":"POST","path":"/api/forge/agents","gives":"data"},
  createProject: {"method":"POST","path":"/api/projects","gives":"data"},
  createPullRequest: {"method":"POST","path":"/api/task-attempts/{attempt_id}/pr","gives":"data"},
  createReviewComment: {"method":"POST","path":"/api/task-attempts/{attempt_id}/comments","gives":"data"},
  createTag: {"method":"POST","path":"/api/tags","gives":"data"},
  createTask: {"method":"POST","path":"/api/tasks","gives":"data"},
  createTaskAttempt: {"method":"POST","path":"/api/task-attempts","gives":"data","repeatable":true},
  createTaskInProject: {"method":"POST","path":"/api/projects/{project_id}/tasks","gives":"data"},
  createTaskTemplate: {"method":"POST","path":"/api/templates","gives":"data"},
  deleteDraft: {"method":"DELETE","path":"/api/task-attempts/{attempt_id}/draft","gives":"data"},
  deleteImage: {"method":"DELETE","path":"/api/images/{image_id}","gives":"data"},
  deleteProject: {"method":"DELETE","path":"/api/projects/{project_id}","gives":"data"},
  deleteReviewComment: {"method":"DELETE","path":"/api/task-attempts/{attempt_id}/comments/{comment_id}","gives":"data"},
  deleteTag: {"method":"DELETE","path":"/api/tags/{tag_id}","gives":"data"},
  deleteTask: {"method":"DELETE","path":"/api/tasks/{task_id}","gives":"data"},
  deleteTaskAttemptFile: {"method":"POST","path":"/api/task-attempts/{attempt_id}/delete-file","gives":"data"},
  deleteTaskOfProject: {"method":"DELETE","path":"/api/projects/{project_id}/tasks/{task_id}","gives":"data"},
  deleteTaskTemplate: {"method":"DELETE","path":"/api/templates/{template_id}","gives":"data"},
  dismissFinding: {"method":"POST","path":"/api/task-attempts/{attempt_id}/findings/{finding_id}/dismiss","gives":"data"},
  dismissTaskAttempt: {"method":"POST","path":"/api/task-attempts/{attempt_id}/dismiss","gives":"data"},
  docs: {"method":"GET","path":"/docs","gives":"text"},
  downloadBackup: {"method":"GET","path":"/api/backup","gives":"bytes"},
  followDiff: {"method":"GET","path":"/api/task-attempts/{attempt_id}/diff/ws","gives":"socket"},
  followDrafts: {"method":"GET","path":"/api/drafts/stream/ws","gives":"socket"},
  followEvents: {"method":"GET","path":"/api/events","gives":"events"},
  followExecutionProcesses: {"method":"GET","path":"/api/execution-processes/stream/ws","gives":"socket"},
  followExecutionRunLogs: {"method":"GET","path":"/api/execution-runs/{execution_run_id}/logs/ws","gives":"socket"},
  followNormalizedLogs: {"method":"GET","path":"/api/execution-processes/{run_id}/normalized-logs/ws","gives":"socket","retells":true},
  followRawLogs: {"method":"GET","path":"/api/execution-processes/{run_id}/raw-logs/ws","gives":"socket","resumes":true},
  followTasks: {"method":"GET","path":"/api/tasks/stream/ws","gives":"socket"},
  followTasksOfProject: {"method":"GET","path":"/api/projects/{project_id}/tasks/stream/ws","gives":"socket"},
  followUp: {"method":"POST","path":"/api/task-attempts/{attempt_id}/follow-up","gives":"data","repeatable":true},
  followUpExecutionRun: {"method":"POST","path":"/api/execution-runs/{execution_run_id}/follow-up","gives":"data","repeatable":true},
  getApprovalStatus: {"method":"GET","path":"/api/approvals/{ask_id}/status","gives":"json"},
  getAuthRequired: {"method":"GET","path":"/api/forge/auth-required","gives":"json"},
  getBoard: {"method":"GET","path":"/api/board","gives":"data"},
  getCommitInfo: {"method":"GET","path":"/api/task-attempts/{attempt_id}/commit-info","gives":"data"},
  getConfig: {"method":"GET","path":"/api/config","gives":"data"},
  getContainerInfo: {"method":"GET","path":"/api/containers/info","gives":"data"},
  getDiskUse: {"method":"GET","path":"/api/disk","gives":"data"},
  getDraft: {"method":"GET","path":"/api/task-attempts/{attempt_id}/draft","gives":"data"},
  getExecutionProcess: {"method":"GET","path":"/api/execution-processes/{run_id}","gives":"data"},
  getExecutionRun: {"method":"GET","path":"/api/execution-runs/{execution_run_id}","gives":"data"},
  getForgeAgents: {"method":"GET","path":"/api/forge/agents","gives":"data"},
  getForgeConfig: {"method":"GET","path":"/api/forge/config","gives":"data"},
  getForgeProjectSettings: {"method":"GET","path":"/api/forge/projects/{project_id}/settings","gives":"data"},
  getImageFile: {"method":"GET","path":"/api/images/{image_id}/file","gives":"bytes"},
  getMcpConfig: {"method":"GET","path":"/api/mcp-config","gives":"data"},
  getOmniStatus: {"method":"GET","path":"/api/forge/omni/status","gives":"json"},
  getProfiles: {"method":"GET","path":"/api/profiles","gives":"data"},
  getProject: {"method":"GET","path":"/api/projects/{project_id}","gives":"data"},
  getProjectBranchStatus: {"method":"GET","path":"/api/forge/projects/{project_id}/branch-status","gives":"data"},
  getProjectProfiles: {"method":"GET","path":"/api/forge/projects/{project_id}/profiles","gives":"data"},
  getSound: {"method":"GET","path":"/api/sounds/{sound}","gives":"bytes"},
  getSystemInfo: {"method":"GET","path":"/api/info","gives":"data"},
  getTag: {"method":"GET","path":"/api/tags/{tag_id}","gives":"data"},
  getTask: {"method":"GET","path":"/api/tasks/{task_id}","gives":"data"},
  getTaskAttempt: {"method":"GET","path":"/api/task-attempts/{attempt_id}","gives":"data"},
  getTaskAttemptBranchStatus: {"method":"GET","path":"/api/task-attempts/{attempt_id}/branch-status","gives":"data"},
  getTaskAttemptChildren: {"method":"GET","path":"/api/task-attempts/{attempt_id}/children","gives":"data"},
  getTaskAttemptDiff: {"method":"GET","path":"/api/task-attempts/{attempt_id}/diff","gives":"data"},
  getTaskImages: {"method":"GET","path":"/api/images/task/{task_id}","gives":"data"},
  getTaskOfProject: {"method":"GET","path":"/api/projects/{project_id}/tasks/{task_id}","gives":"data"},
  getTaskTemplate: {"method":"GET","path":"/api/templates/{template_id}","gives":"data"},
  getUsage: {"method":"GET","path":"/api/usage","gives":"data"},
  health: {"method":"GET","path":"/health","gives":"json"},
  importFrom: {"method":"POST","path":"/api/import","gives":"data"},
  importProgress: {"method":"GET","path":"/api/import","gives":"data"},
  listAgentFiles: {"method":"GET","path":"/api/projects/{project_id}/agent-files","gives":"data"},
  listApprovals: {"method":"GET","path":"/api/approvals","gives":"data"},
  listDirectory: {"method":"GET","path":"/api/filesystem/directory","gives":"data"},
  listExecutionProcesses: {"method":"GET","path":"/api/execution-processes","gives":"data"},
  listExecutionRunProcesses: {"method":"GET","path":"/api/execution-runs/{execution_run_id}/processes","gives":"data"},
  listExecutionRuns: {"method":"GET","path":"/api/execution-runs","gives":"data"},
  listFindings: {"method":"GET","path":"/api/task-attempts/{attempt_id}/findings","gives":"data"},
  listGitRepositories: {"method":"GET","path":"/api/filesystem/git-repos","gives":"data"},
  listOmniInstances: {"method":"GET","path":"/api/forge/omni/instances","gives":"json"},
  listOmniNotifications: {"method":"GET","path":"/api/forge/omni/notifications","gives":"json"},
  listPendingApprovals: {"method":"GET","path":"/api/approvals/pending","gives":"data"},
  listProjectBranches: {"method":"GET","path":"/api/projects/{project_id}/branches","gives":"data"},
  listProjects: {"method":"GET","path":"/api/projects","gives":"data"},
  listQueue: {"method":"GET","path":"/api/task-attempts/{attempt_id}/queue","gives":"data"},
  listReleases: {"method":"GET","path":"/api/forge/releases","gives":"data"},
  listRemoved: {"method":"GET","path":"/api/removed","gives":"data"},
  listReviewComments: {"method":"GET","path":"/api/task-attempts/{attempt_id}/comments","gives":"data"},
  listRoutes: {"method":"GET","path":"/api/routes","gives":"json"},
  listRules: {"method":"GET","path":"/api/projects/{project_id}/rules","gives":"data"},
  listSnapshots: {"method":"GET","path":"/api/task-attempts/{attempt_id}/snapshots","gives":"data"},
  listTags: {"method":"GET","path":"/api/tags","gives":"data"},
  listTaskAttemptEntries: {"method":"GET","path":"/api/task-attempts/{attempt_id}/entries","gives":"data"},
  listTaskAttempts: {"method":"GET","path":"/api/task-attempts","gives":"data"},
  listTaskTemplates: {"method":"GET","path":"/api/templates","gives":"data"},
  listTasks: {"method":"GET","path":"/api/tasks","gives":"data"},
  listTasksOfProject: {"method":"GET","path":"/api/projects/{project_id}/tasks","gives":"data"},
  live: {"method":"GET","path":"/api/live/ws","gives":"socket"},
  makeDemo: {"method":"POST","path":"/api/demo","gives":"data"},
  markReviewCommentsSent: {"method":"POST","path":"/api/task-attempts/{attempt_id}/comments/sent","gives":"data"},
  mergeTaskAttempt: {"method":"POST","path":"/api/task-attempts/{attempt_id}/merge","gives":"data"},
  metrics: {"method":"GET","path":"/metrics","gives":"text"},
  openApi: {"method":"GET","path":"/api/openapi.json","gives":"json"},
  openProjectInEditor: {"method":"POST","path":"/api/projects/{project_id}/open-editor","gives":"data"},
  openSession: {"method":"POST","path":"/api/session","gives":"data"},
  openTaskAttemptInEditor: {"method":"POST","path":"/api/task-attempts/{attempt_id}/open-editor","gives":"data"},
  page: {"method":"GET","path":"/","gives":"text"},
  pollGithubLogin: {"method":"POST","path":"/api/auth/github/device/poll","gives":"data"},
  pullProject: {"method":"POST","path":"/api/forge/projects/{project_id}/pull","gives":"json"},
  pushTaskAttempt: {"method":"POST","path":"/api/task-attempts/{attempt_id}/push","gives":"data"},
  queueDraft: {"method":"POST","path":"/api/task-attempts/{attempt_id}/draft/queue","gives":"data","repeatable":true},
  rebaseTaskAttempt: {"method":"POST","path":"/api/task-attempts/{attempt_id}/rebase","gives":"data"},
  recoverRemoved: {"method":"POST","path":"/api/removed/{removed_id}/recover","gives":"data"},
  replaceProcess: {"method":"POST","path":"/api/task-attempts/{attempt_id}/replace-process","gives":"data","repeatable":true},
  respondToApproval: {"method":"POST","path":"/api/approvals/{ask_id}/respond","gives":"json"},
  restoreFiles: {"method":"POST","path":"/api/task-attempts/{attempt_id}/restore","gives":"data"},
  restoreFinding: {"method":"POST","path":"/api/task-attempts/{attempt_id}/findings/{finding_id}/restore","gives":"data"},
  runAgentSetup: {"method":"POST","path":"/api/task-attempts/{attempt_id}/run-agent-setup","gives":"data"},
  saveDraft: {"method":"PUT","path":"/api/task-attempts/{attempt_id}/draft","gives":"data"},
  saveDraftByPost: {"method":"POST","path":"/api/task-attempts/{attempt_id}/draft","gives":"data"},
  searchProjectFiles: {"method":"GET","path":"/api/projects/{project_id}/search","gives":"data"},
  seeTaskAttempt: {"method":"POST","path":"/api/task-attempts/{attempt_id}/seen","gives":"data"},
  setRules: {"method":"PUT","path":"/api/projects/{project_id}/rules","gives":"data"},
  startDevServer: {"method":"POST","path":"/api/task-attempts/{attempt_id}/start-dev-server","gives":"data"},
  startGithubLogin: {"method":"POST","path":"/api/auth/github/device/start","gives":"data"},
  stopExecutionProcess: {"method":"POST","path":"/api/execution-processes/{run_id}/stop","gives":"data"},
  stopExecutionRun: {"method":"POST","path":"/api/execution-runs/{execution_run_id}/stop","gives":"data"},
  stopTaskAttempt: {"method":"POST","path":"/api/task-attempts/{attempt_id}/stop","gives":"data"},
  undoTaskAttemptMerge: {"method":"POST","path":"/api/task-attempts/{attempt_id}/merge/undo","gives":"data"},
  updateConfig: {"method":"PUT","path":"/api/config","gives":"data"},
  updateForgeConfig: {"method":"PUT","path":"/api/forge/config","gives":"data"},
  updateForgeProjectSettings: {"method":"PUT","path":"/api/forge/projects/{project_id}/settings","gives":"data"},
  updateMcpConfig: {"method":"POST","path":"/api/mcp-config","gives":"data"},
  updateProfiles: {"method":"PUT","path":"/api/profiles","gives":"data"},
  updateProject: {"method":"PUT","path":"/api/projects/{project_id}","gives":"data"},
  updateReviewComment: {"method":"PUT","path":"/api/task-attempts/{attempt_id}/comments/{comment_id}","gives":"data"},
  updateTag: {"method":"PUT","path":"/api/tags/{tag_id}","gives":"data"},
  updateTask: {"method":"PUT","path":"/api/tasks/{task_id}","gives":"data"},
  updateTaskOfProject: {"method":"PUT","path":"/api/projects/{project_id}/tasks/{task_id}","gives":"data"},
  updateTaskTemplate: {"method":"PUT","path":"/api/templates/{template_id}","gives":"data"},
  uploadImage: {"method":"POST","path":"/api/images/upload","gives":"data","part":"file"},
  uploadTaskImage: {"method":"POST","path":"/api/images/task/{task_id}/upload","gives":"data","part":"file"},
  validateOmniConfig: {"method":"POST","path":"/api/forge/omni/validate","gives":"json"},
  webManifest: {"method":"GET","path":"/site.webmanifest","gives":"text"},
  withdrawQueued: {"method":"DELETE","path":"/api/task-attempts/{attempt_id}/queue/{item}","gives":"data"},
} as const satisfies Record<string, OperationSpec>;

/** One method for each operation; how a call is made is up to the class that extends this. */
export abstract class Operations {
  protected abstract call<R>(operation: OperationSpec, given: Given): Promise<R>;
  protected abstract followEventStream(operation: OperationSpec, given: Given): AsyncIterableIterator<ServerEvent>;
  protected abstract followSocket<R>(operation: OperationSpec, given: Given): AsyncIterableIterator<R>;

  /** Takes back a rebase or merge that waits for its conflicts; the files are snapshotted first. */
  abortTaskAttemptConflicts(attemptId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.abortTaskAttemptConflicts, { path: { attempt_id: attemptId }, options });
  }

  /** Says that the API is there. */
  apiHealth(options?: CallOptions): Promise<string> {
    return this.call(operations.apiHealth, { options });
  }

  /** Takes up the pull request of the attempt's branch, or the one with a number. */
  attachPullRequest(attemptId: string, body?: T.AttachExistingPrRequest | null, options?: CallOptions): Promise<T.AttachPrResponse> {
    return this.call(operations.attachPullRequest, { path: { attempt_id: attemptId }, body, options });
  }

  /** Changes the text or the place of a follow-up that waits. */
  changeQueued(attemptId: string, item: string, body: T.ChangeQueued, options?: CallOptions): Promise<T.QueuedFollowUp[]> {
    return this.call(operations.changeQueued, { path: { attempt_id: attemptId, item }, body, options });
  }

  /** Changes where an attempt lands; no commit moves. */
  changeTaskAttemptTargetBranch(attemptId: string, body: T.ChangeTargetBranch, options?: CallOptions): Promise<T.ChangedTargetBranch> {
    return this.call(operations.changeTaskAttemptTargetBranch, { path: { attempt_id: attemptId }, body, options });
  }

  /** Says whether the stored token is good. Without one, nobody is asked. */
  checkGithubToken(options?: CallOptions): Promise<T.CheckTokenResponse> {
    return this.call(operations.checkGithubToken, { options });
  }

  /** Moves worktrees that have had their time to the trash, and deletes old logs; a dry run only tells. */
  collectGarbage(body?: T.CollectGarbage | null, options?: CallOptions): Promise<T.Cleaned> {
    return this.call(operations.collectGarbage, { body, options });
  }

  /** Compares a commit with what an attempt has checked out. */
  compareCommitToHead(attemptId: string, query: { sha: string }, options?: CallOptions): Promise<T.CommitCompare> {
    return this.call(operations.compareCommitToHead, { path: { attempt_id: attemptId }, query, options });
  }

  /** Goes on with a rebase whose conflicts somebody has resolved in the files; the files are snapshotted first. */
  continueTaskAttemptConflicts(attemptId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.continueTaskAttemptConflicts, { path: { attempt_id: attemptId }, options });
  }

  /** Adds a task and starts its first attempt, which runs when this answers. */
  createAndStartTask(body: T.CreateAndStartTaskRequest, options?: CallOptions): Promise<T.StartedTask> {
    return this.call(operations.createAndStartTask, { body, options });
  }

  /** Adds a task to a project and starts its first attempt. */
  createAndStartTaskInProject(projectId: string, body: T.CreateAndStartTaskRequest, options?: CallOptions): Promise<T.StartedTask> {
    return this.call(operations.createAndStartTaskInProject, { path: { project_id: projectId }, body, options });
  }

  /** Asks on behalf of a program beside a running agent, found by its session. */
  createApproval(body: T.CreateApproval, options?: CallOptions): Promise<T.CreatedApproval> {
    return this.call(operations.createApproval, { body, options });
  }

  /** Starts an attempt without a task; its process runs when this answers. */
  createExecutionRun(body: T.CreateExecutionRun, options?: CallOptions): Promise<T.StartedExecutionRun> {
    return this.call(operations.createExecutionRun, { body, options });
  }

  /** Adds a standing agent with a task of its own. */
  createForgeAgent(body: T.CreateForgeAgent, options?: CallOptions): Promise<T.ForgeAgent> {
    return this.call(operations.createForgeAgent, { body, options });
  }

  /** Registers a repository, making it first when that is asked for. */
  createProject(body: T.CreateProject, options?: CallOptions): Promise<T.Project> {
    return this.call(operations.createProject, { body, options });
  }

  /** Pushes the attempt's branch and opens a pull request for it; answers with its page. */
  createPullRequest(attemptId: string, body: T.CreateGitHubPrRequest, options?: CallOptions): Promise<string> {
    return this.call(operations.createPullRequest, { path: { attempt_id: attemptId }, body, options });
  }

  /** Adds a review comment beside lines of an attempt's diff. */
  createReviewComment(attemptId: string, body: T.CreateReviewComment, options?: CallOptions): Promise<T.ReviewComment> {
    return this.call(operations.createReviewComment, { path: { attempt_id: attemptId }, body, options });
  }

  /** Adds a tag. */
  createTag(body: T.CreateTag, options?: CallOptions): Promise<T.Tag> {
    return this.call(operations.createTag, { body, options });
  }

  /** Adds a task. */
  createTask(body: T.CreateTask, options?: CallOptions): Promise<T.Task> {
    return this.call(operations.createTask, { body, options });
  }

  /** Starts a further attempt at a task; its process runs when this answers. */
  createTaskAttempt(body: T.CreateTaskAttemptBody, options?: CallOptions): Promise<T.TaskAttempt> {
    return this.call(operations.createTaskAttempt, { body, options });
  }

  /** Adds a task to a project. */
  createTaskInProject(projectId: string, body: T.CreateTaskInProject, options?: CallOptions): Promise<T.Task> {
    return this.call(operations.createTaskInProject, { path: { project_id: projectId }, body, options });
  }

  /** Adds a template. */
  createTaskTemplate(body: T.CreateTaskTemplate, options?: CallOptions): Promise<T.TaskTemplate> {
    return this.call(operations.createTaskTemplate, { body, options });
  }

  /** Drops a retry that was begun. */
  deleteDraft(attemptId: string, query: { type: "follow_up" | "retry" }, options?: CallOptions): Promise<null> {
    return this.call(operations.deleteDraft, { path: { attempt_id: attemptId }, query, options });
  }

  /** Deletes an image; one that is not there is deleted already. */
  deleteImage(imageId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.deleteImage, { path: { image_id: imageId }, options });
  }

  /** Forgets a project; the repository stays as it is. */
  deleteProject(projectId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.deleteProject, { path: { project_id: projectId }, options });
  }

  /** Deletes a review comment. */
  deleteReviewComment(attemptId: string, commentId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.deleteReviewComment, { path: { attempt_id: attemptId, comment_id: commentId }, options });
  }

  /** Deletes a tag. */
  deleteTag(tagId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.deleteTag, { path: { tag_id: tagId }, options });
  }

  /** Removes a task; its worktrees go afterwards. */
  deleteTask(taskId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.deleteTask, { path: { task_id: taskId }, options });
  }

  /** Deletes a file of an attempt's worktree and commits that alone. */
  deleteTaskAttemptFile(attemptId: string, query: { file_path: string }, options?: CallOptions): Promise<null> {
    return this.call(operations.deleteTaskAttemptFile, { path: { attempt_id: attemptId }, query, options });
  }

  /** Removes a task; its worktrees go afterwards. */
  deleteTaskOfProject(projectId: string, taskId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.deleteTaskOfProject, { path: { project_id: projectId, task_id: taskId }, options });
  }

  /** Deletes a template. */
  deleteTaskTemplate(templateId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.deleteTaskTemplate, { path: { template_id: templateId }, options });
  }

  /** Leaves what was found as it is, and counts it as open no longer. */
  dismissFinding(attemptId: string, findingId: string, options?: CallOptions): Promise<T.Finding> {
    return this.call(operations.dismissFinding, { path: { attempt_id: attemptId, finding_id: findingId }, options });
  }

  /** Notes that a person is done with an attempt: for now, until a time, or not after all. */
  dismissTaskAttempt(attemptId: string, body?: T.DismissTaskAttempt | null, options?: CallOptions): Promise<T.TaskAttempt> {
    return this.call(operations.dismissTaskAttempt, { path: { attempt_id: attemptId }, body, options });
  }

  /** The API, to read and to try. */
  docs(options?: CallOptions): Promise<string> {
    return this.call(operations.docs, { options });
  }

  /** Gives a consistent copy of the data as a tar archive: database, settings, logs, images. */
  downloadBackup(options?: CallOptions): Promise<Blob> {
    return this.call(operations.downloadBackup, { options });
  }

  /** Follows what an attempt has changed: everything, then what changes in it. */
  followDiff(attemptId: string, query?: { stats_only?: boolean }, options?: FollowOptions): AsyncIterableIterator<T.DiffMessage> {
    return this.followSocket(operations.followDiff, { path: { attempt_id: attemptId }, query, options });
  }

  /** Follows the drafts of a project's attempts: all of them, then what changes. */
  followDrafts(query: { project_id: string }, options?: FollowOptions): AsyncIterableIterator<T.MapOfDraftValue> {
    return this.followSocket(operations.followDrafts, { query, options });
  }

  /** Follows everything that changes, as server-sent events from a position. */
  followEvents(query?: { after?: number }, options?: FollowOptions): AsyncIterableIterator<ServerEvent> {
    return this.followEventStream(operations.followEvents, { query, options });
  }

  /** Follows an attempt's runs: all of them, then what changes. */
  followExecutionProcesses(query: { task_attempt_id: string; show_soft_deleted?: boolean }, options?: FollowOptions): AsyncIterableIterator<T.MapOfExecutionProcess> {
    return this.followSocket(operations.followExecutionProcesses, { query, options });
  }

  /** Follows the output of the newest run, as it was written. */
  followExecutionRunLogs(executionRunId: string, options?: FollowOptions): AsyncIterableIterator<T.PlainLogMessage> {
    return this.followSocket(operations.followExecutionRunLogs, { path: { execution_run_id: executionRunId }, options });
  }

  /** Follows what an agent said and did: all entries of a run, or those from an index on, or its last ones; then what is added and what changes. */
  followNormalizedLogs(runId: string, query?: { from?: number; last?: number; follow?: boolean }, options?: FollowOptions): AsyncIterableIterator<T.EntriesMessage> {
    return this.followSocket(operations.followNormalizedLogs, { path: { run_id: runId }, query, options });
  }

  /** Follows a run's output as it was written, from a position until it ends. */
  followRawLogs(runId: string, query?: { from?: number; follow?: boolean }, options?: FollowOptions): AsyncIterableIterator<T.RawLogMessage> {
    return this.followSocket(operations.followRawLogs, { path: { run_id: runId }, query, options });
  }

  /** Follows a project's tasks: all of them, then what changes. */
  followTasks(query: { project_id: string }, options?: FollowOptions): AsyncIterableIterator<T.MapOfTaskWithAttemptStatus> {
    return this.followSocket(operations.followTasks, { query, options });
  }

  /** Follows a project's tasks, as `GET /api/tasks/stream/ws` does. */
  followTasksOfProject(projectId: string, options?: FollowOptions): AsyncIterableIterator<T.MapOfTaskWithAttemptStatus> {
    return this.followSocket(operations.followTasksOfProject, { path: { project_id: projectId }, options });
  }

  /** Tells the agent something more: at once when it can listen, else at its turn's end. */
  followUp(attemptId: string, body: T.CreateFollowUpAttempt, options?: CallOptions): Promise<T.FollowUpProcess> {
    return this.call(operations.followUp, { path: { attempt_id: attemptId }, body, options });
  }

  /** Tells the agent of an attempt without a task something more. */
  followUpExecutionRun(executionRunId: string, body: T.CreateFollowUpAttempt, options?: CallOptions): Promise<T.FollowUpProcess> {
    return this.call(operations.followUpExecutionRun, { path: { execution_run_id: executionRunId }, body, options });
  }

  /** Tells whether an ask was answered, and how. */
  getApprovalStatus(askId: string, options?: CallOptions): Promise<T.Responded> {
    return this.call(operations.getApprovalStatus, { path: { ask_id: askId }, options });
  }

  /** Says whether every caller needs a token. */
  getAuthRequired(options?: CallOptions): Promise<T.AuthRequired> {
    return this.call(operations.getAuthRequired, { options });
  }

  /** Returns all projects, tasks, attempts and open approvals at one position. */
  getBoard(options?: CallOptions): Promise<T.Board> {
    return this.call(operations.getBoard, { options });
  }

  /** Returns a commit's name and the first line of its message. */
  getCommitInfo(attemptId: string, query: { sha: string }, options?: CallOptions): Promise<T.CommitInfo> {
    return this.call(operations.getCommitInfo, { path: { attempt_id: attemptId }, query, options });
  }

  /** Returns the settings, secrets masked. */
  getConfig(options?: CallOptions): Promise<T.Config> {
    return this.call(operations.getConfig, { options });
  }

  /** Finds the attempt whose worktree is exactly at a path. */
  getContainerInfo(query: { ref: string }, options?: CallOptions): Promise<T.ContainerInfo> {
    return this.call(operations.getContainerInfo, { query, options });
  }

  /** Says how much of the disk is taken, by project and attempt, and how much is free. */
  getDiskUse(options?: CallOptions): Promise<T.Disk> {
    return this.call(operations.getDiskUse, { options });
  }

  /** Returns a draft; an empty one of version 0 when there is none. */
  getDraft(attemptId: string, query: { type: "follow_up" | "retry" }, options?: CallOptions): Promise<T.DraftResponse> {
    return this.call(operations.getDraft, { path: { attempt_id: attemptId }, query, options });
  }

  /** Returns a run. */
  getExecutionProcess(runId: string, options?: CallOptions): Promise<T.ExecutionProcess> {
    return this.call(operations.getExecutionProcess, { path: { run_id: runId }, options });
  }

  /** Returns an attempt without a task. */
  getExecutionRun(executionRunId: string, options?: CallOptions): Promise<T.ExecutionRun> {
    return this.call(operations.getExecutionRun, { path: { execution_run_id: executionRunId }, options });
  }

  /** Lists the standing agents of a project. */
  getForgeAgents(query: { project_id: string; agent_type?: string }, options?: CallOptions): Promise<T.ForgeAgent[]> {
    return this.call(operations.getForgeAgents, { query, options });
  }

  /** Returns the settings that hold for every project, secrets masked. */
  getForgeConfig(options?: CallOptions): Promise<T.ForgeProjectSettings> {
    return this.call(operations.getForgeConfig, { options });
  }

  /** Returns the settings that hold in a project, secrets masked. */
  getForgeProjectSettings(projectId: string, options?: CallOptions): Promise<T.ForgeProjectSettings> {
    return this.call(operations.getForgeProjectSettings, { path: { project_id: projectId }, options });
  }

  /** Returns the bytes of an image. */
  getImageFile(imageId: string, options?: CallOptions): Promise<Blob> {
    return this.call(operations.getImageFile, { path: { image_id: imageId }, options });
  }

  /** Returns the MCP servers of an agent, and some to choose from. */
  getMcpConfig(query: { executor: string }, options?: CallOptions): Promise<T.GetMcpServerResponse> {
    return this.call(operations.getMcpConfig, { query, options });
  }

  /** Says whether notices are sent, and by what settings. */
  getOmniStatus(options?: CallOptions): Promise<T.OmniStatus> {
    return this.call(operations.getOmniStatus, { options });
  }

  /** Returns the agents' profiles as JSON text, and where they are kept. */
  getProfiles(options?: CallOptions): Promise<T.ProfilesContent> {
    return this.call(operations.getProfiles, { options });
  }

  /** Returns a project. */
  getProject(projectId: string, options?: CallOptions): Promise<T.Project> {
    return this.call(operations.getProject, { path: { project_id: projectId }, options });
  }

  /** Compares a project's checkout with its remote, after a fetch. */
  getProjectBranchStatus(projectId: string, query?: { base?: string }, options?: CallOptions): Promise<T.ProjectBranchStatus> {
    return this.call(operations.getProjectBranchStatus, { path: { project_id: projectId }, query, options });
  }

  /** Returns the profiles, those of the project's own agent files included. */
  getProjectProfiles(projectId: string, options?: CallOptions): Promise<T.ProjectProfiles> {
    return this.call(operations.getProjectProfiles, { path: { project_id: projectId }, options });
  }

  /** Returns a sound by its name in the settings. */
  getSound(sound: string, options?: CallOptions): Promise<Blob> {
    return this.call(operations.getSound, { path: { sound }, options });
  }

  /** Returns what a client asks first: settings, agents, the machine. */
  getSystemInfo(options?: CallOptions): Promise<T.UserSystemInfo> {
    return this.call(operations.getSystemInfo, { options });
  }

  /** Returns a tag. */
  getTag(tagId: string, options?: CallOptions): Promise<T.Tag> {
    return this.call(operations.getTag, { path: { tag_id: tagId }, options });
  }

  /** Returns a task. */
  getTask(taskId: string, options?: CallOptions): Promise<T.Task> {
    return this.call(operations.getTask, { path: { task_id: taskId }, options });
  }

  /** Returns an attempt. */
  getTaskAttempt(attemptId: string, options?: CallOptions): Promise<T.TaskAttempt> {
    return this.call(operations.getTaskAttempt, { path: { attempt_id: attemptId }, options });
  }

  /** Returns how an attempt's branch stands to its target. */
  getTaskAttemptBranchStatus(attemptId: string, options?: CallOptions): Promise<T.BranchStatus> {
    return this.call(operations.getTaskAttemptBranchStatus, { path: { attempt_id: attemptId }, options });
  }

  /** Returns the tasks that grew out of an attempt, and its own parent. */
  getTaskAttemptChildren(attemptId: string, options?: CallOptions): Promise<T.TaskRelationships> {
    return this.call(operations.getTaskAttemptChildren, { path: { attempt_id: attemptId }, options });
  }

  /** Returns what an attempt has changed since it left its target branch, as it is now: with contents, with counts only, or only the files that `path` names, which may be there many times. `from` and `to` compare snapshots of it instead; `start` is where it began, `now` its files as they are. */
  getTaskAttemptDiff(attemptId: string, query?: { stats_only?: boolean; path?: string; from?: string; to?: string }, options?: CallOptions): Promise<T.TaskAttemptDiff> {
    return this.call(operations.getTaskAttemptDiff, { path: { attempt_id: attemptId }, query, options });
  }

  /** Lists the images of a task, in the order they were added. */
  getTaskImages(taskId: string, options?: CallOptions): Promise<T.ImageResponse[]> {
    return this.call(operations.getTaskImages, { path: { task_id: taskId }, options });
  }

  /** Returns a task. */
  getTaskOfProject(projectId: string, taskId: string, options?: CallOptions): Promise<T.Task> {
    return this.call(operations.getTaskOfProject, { path: { project_id: projectId, task_id: taskId }, options });
  }

  /** Returns a template. */
  getTaskTemplate(templateId: string, options?: CallOptions): Promise<T.TaskTemplate> {
    return this.call(operations.getTaskTemplate, { path: { template_id: templateId }, options });
  }

  /** Sums up the tokens and the money that agents used, by day or another key. */
  getUsage(query?: { project_id?: string; task_id?: string; task_attempt_id?: string; by?: "day" | "agent" | "project" | "task" | "attempt" | "turn" }, options?: CallOptions): Promise<T.Usage[]> {
    return this.call(operations.getUsage, { query, options });
  }

  /** Says that the server is there. */
  health(options?: CallOptions): Promise<T.Health> {
    return this.call(operations.health, { options });
  }

  /** Imports what Automagik Forge or vibe-kanban has; a dry run only tells. Safe to repeat. */
  importFrom(body: T.Import, options?: CallOptions): Promise<T.ImportReport> {
    return this.call(operations.importFrom, { body, options });
  }

  /** Tells how far the import is that is under way. */
  importProgress(options?: CallOptions): Promise<T.ImportUnderWay> {
    return this.call(operations.importProgress, { options });
  }

  /** Lists the agents that the project's own files describe, and what is wrong with other files. */
  listAgentFiles(projectId: string, options?: CallOptions): Promise<T.AgentFiles> {
    return this.call(operations.listAgentFiles, { path: { project_id: projectId }, options });
  }

  /** Lists what agents asked, newest first: who answered what, and when. */
  listApprovals(query?: { task_attempt_id?: string; project_id?: string; state?: "open" | "approved" | "denied" | "cancelled" | "expired"; limit?: number }, options?: CallOptions): Promise<T.Approval[]> {
    return this.call(operations.listApprovals, { query, options });
  }

  /** Lists a directory in the person's home or in a project. */
  listDirectory(query?: { path?: string }, options?: CallOptions): Promise<T.DirectoryListResponse> {
    return this.call(operations.listDirectory, { query, options });
  }

  /** Lists an attempt's runs, oldest first. */
  listExecutionProcesses(query: { task_attempt_id: string; show_soft_deleted?: boolean }, options?: CallOptions): Promise<T.ExecutionProcess[]> {
    return this.call(operations.listExecutionProcesses, { query, options });
  }

  /** Lists the runs of an attempt without a task, oldest first. */
  listExecutionRunProcesses(executionRunId: string, options?: CallOptions): Promise<T.ExecutionProcess[]> {
    return this.call(operations.listExecutionRunProcesses, { path: { execution_run_id: executionRunId }, options });
  }

  /** Lists attempts without a task, newest first: those of a project, or all. */
  listExecutionRuns(query?: { project_id?: string }, options?: CallOptions): Promise<T.ExecutionRun[]> {
    return this.call(operations.listExecutionRuns, { query, options });
  }

  /** Lists what changed outside an attempt's worktree while its processes ran, oldest first. */
  listFindings(attemptId: string, options?: CallOptions): Promise<T.Finding[]> {
    return this.call(operations.listFindings, { path: { attempt_id: attemptId }, options });
  }

  /** Finds repositories below a path, those that changed last first. */
  listGitRepositories(query?: { path?: string }, options?: CallOptions): Promise<T.DirectoryEntry[]> {
    return this.call(operations.listGitRepositories, { query, options });
  }

  /** Lists the instances of the gateway for notices. */
  listOmniInstances(options?: CallOptions): Promise<T.OmniInstances> {
    return this.call(operations.listOmniInstances, { options });
  }

  /** Lists the newest 50 notices. */
  listOmniNotifications(options?: CallOptions): Promise<T.OmniNotifications> {
    return this.call(operations.listOmniNotifications, { options });
  }

  /** Lists what agents wait for. */
  listPendingApprovals(options?: CallOptions): Promise<T.Approval[]> {
    return this.call(operations.listPendingApprovals, { options });
  }

  /** Lists a project's branches, the current one first. */
  listProjectBranches(projectId: string, options?: CallOptions): Promise<T.GitBranch[]> {
    return this.call(operations.listProjectBranches, { path: { project_id: projectId }, options });
  }

  /** Lists projects, newest first. */
  listProjects(options?: CallOptions): Promise<T.Project[]> {
    return this.call(operations.listProjects, { options });
  }

  /** Lists the follow-ups that wait, first what is sent first. */
  listQueue(attemptId: string, options?: CallOptions): Promise<T.QueuedFollowUp[]> {
    return this.call(operations.listQueue, { path: { attempt_id: attemptId }, options });
  }

  /** Lists releases from Forge's own changelog, newest first. */
  listReleases(options?: CallOptions): Promise<T.ForgeRelease[]> {
    return this.call(operations.listReleases, { options });
  }

  /** Lists what was removed and can be brought back, newest first. */
  listRemoved(options?: CallOptions): Promise<T.RemovedEntry[]> {
    return this.call(operations.listRemoved, { options });
  }

  /** Lists the review comments on an attempt, oldest first. */
  listReviewComments(attemptId: string, options?: CallOptions): Promise<T.ReviewComment[]> {
    return this.call(operations.listReviewComments, { path: { attempt_id: attemptId }, options });
  }

  /** Lists every route, and whether it is served. */
  listRoutes(options?: CallOptions): Promise<T.RouteTable> {
    return this.call(operations.listRoutes, { options });
  }

  /** Lists the rules about what a project's agents ask; the first that fits counts. */
  listRules(projectId: string, options?: CallOptions): Promise<T.Rule[]> {
    return this.call(operations.listRules, { path: { project_id: projectId }, options });
  }

  /** Lists the snapshots of an attempt's files, newest first. */
  listSnapshots(attemptId: string, options?: CallOptions): Promise<T.AttemptSnapshot[]> {
    return this.call(operations.listSnapshots, { path: { attempt_id: attemptId }, options });
  }

  /** Lists tags by name; a search keeps those whose name contains it. */
  listTags(query?: { search?: string }, options?: CallOptions): Promise<T.Tag[]> {
    return this.call(operations.listTags, { query, options });
  }

  /** Returns the last entries of an attempt, or those before, after or around a place: across all of its agent's runs, newest last. `find` gives where a text is found instead, newest first. */
  listTaskAttemptEntries(attemptId: string, query?: { before?: string; after?: string; around?: string; find?: string; limit?: number }, options?: CallOptions): Promise<T.TaskAttemptEntries> {
    return this.call(operations.listTaskAttemptEntries, { path: { attempt_id: attemptId }, query, options });
  }

  /** Lists attempts, newest first: those of a task, or all. */
  listTaskAttempts(query?: { task_id?: string }, options?: CallOptions): Promise<T.TaskAttempt[]> {
    return this.call(operations.listTaskAttempts, { query, options });
  }

  /** Lists templates: those for every project, those of one, or all. */
  listTaskTemplates(query?: { global?: boolean; project_id?: string }, options?: CallOptions): Promise<T.TaskTemplate[]> {
    return this.call(operations.listTaskTemplates, { query, options });
  }

  /** Lists a project's tasks, newest first, without the chats with agents. */
  listTasks(query: { project_id: string }, options?: CallOptions): Promise<T.TaskWithAttemptStatus[]> {
    return this.call(operations.listTasks, { query, options });
  }

  /** Lists a project's tasks, as `GET /api/tasks` does. */
  listTasksOfProject(projectId: string, options?: CallOptions): Promise<T.TaskWithAttemptStatus[]> {
    return this.call(operations.listTasksOfProject, { path: { project_id: projectId }, options });
  }

  /** Follows any number of topics over one socket, each from a position. */
  live(subscriptions: Subscription[], options?: FollowOptions): AsyncIterableIterator<T.LiveMessage> {
    return this.followSocket(operations.live, { subscriptions, options });
  }

  /** Makes the demo, unless it is there, and returns its project; its tasks follow within seconds. */
  makeDemo(options?: CallOptions): Promise<T.Project> {
    return this.call(operations.makeDemo, { options });
  }

  /** Notes that review comments were sent to the agent, all of them or none, and lists all there are. */
  markReviewCommentsSent(attemptId: string, body: T.ReviewCommentsSent, options?: CallOptions): Promise<T.ReviewComment[]> {
    return this.call(operations.markReviewCommentsSent, { path: { attempt_id: attemptId }, body, options });
  }

  /** Lands an attempt as one commit on its target; its task is done then. */
  mergeTaskAttempt(attemptId: string, body?: T.MergeTaskAttempt | null, options?: CallOptions): Promise<T.Leftovers | null> {
    return this.call(operations.mergeTaskAttempt, { path: { attempt_id: attemptId }, body, options });
  }

  /** Tells the server's figures in the text format of Prometheus. */
  metrics(options?: CallOptions): Promise<string> {
    return this.call(operations.metrics, { options });
  }

  /** The OpenAPI document of everything that is served. */
  openApi(options?: CallOptions): Promise<unknown> {
    return this.call(operations.openApi, { options });
  }

  /** Opens a project in an editor on the server's machine, or says where. */
  openProjectInEditor(projectId: string, body?: T.OpenEditorRequest | null, options?: CallOptions): Promise<T.OpenEditorResponse> {
    return this.call(operations.openProjectInEditor, { path: { project_id: projectId }, body, options });
  }

  /** Exchanges a token for a cookie that lets its holder in from then on. */
  openSession(body: T.OpenSession, options?: CallOptions): Promise<null> {
    return this.call(operations.openSession, { body, options });
  }

  /** Opens a worktree in an editor on the server's machine, or says where. */
  openTaskAttemptInEditor(attemptId: string, body?: T.OpenEditorRequest | null, options?: CallOptions): Promise<T.OpenEditorResponse> {
    return this.call(operations.openTaskAttemptInEditor, { path: { attempt_id: attemptId }, body, options });
  }

  /** The board, a page for people. */
  page(options?: CallOptions): Promise<string> {
    return this.call(operations.page, { options });
  }

  /** Asks how far the login is; once it is confirmed, its token is stored. */
  pollGithubLogin(options?: CallOptions): Promise<T.DevicePollStatus> {
    return this.call(operations.pollGithubLogin, { options });
  }

  /** Moves a project's checkout forward to where its remote is, or says why nothing has moved. */
  pullProject(projectId: string, options?: CallOptions): Promise<T.PullResponse> {
    return this.call(operations.pullProject, { path: { project_id: projectId }, options });
  }

  /** Commits what is left and pushes the attempt's branch to the project's remote. Never forced. */
  pushTaskAttempt(attemptId: string, options?: CallOptions): Promise<T.Leftovers | null> {
    return this.call(operations.pushTaskAttempt, { path: { attempt_id: attemptId }, options });
  }

  /** Sends a draft when the agent is done, at once if it is; or takes it back. */
  queueDraft(attemptId: string, body: T.QueueDraft, query: { type: "follow_up" | "retry" }, options?: CallOptions): Promise<T.DraftResponse> {
    return this.call(operations.queueDraft, { path: { attempt_id: attemptId }, body, query, options });
  }

  /** Builds an attempt's commits again on a branch, which becomes its target. */
  rebaseTaskAttempt(attemptId: string, body?: T.RebaseTaskAttempt | null, options?: CallOptions): Promise<null> {
    return this.call(operations.rebaseTaskAttempt, { path: { attempt_id: attemptId }, body, options });
  }

  /** Brings back what was removed, with everything that went with it. */
  recoverRemoved(removedId: string, options?: CallOptions): Promise<T.RecoveredEntry> {
    return this.call(operations.recoverRemoved, { path: { removed_id: removedId }, options });
  }

  /** Drops a process and all later ones, puts the files back, and tells the agent something else. */
  replaceProcess(attemptId: string, body: T.ReplaceProcessRequest, options?: CallOptions): Promise<T.ReplaceProcessResult> {
    return this.call(operations.replaceProcess, { path: { attempt_id: attemptId }, body, options });
  }

  /** Answers what an agent waits for, once. */
  respondToApproval(askId: string, body: T.ApprovalResponse, options?: CallOptions): Promise<T.Responded> {
    return this.call(operations.respondToApproval, { path: { ask_id: askId }, body, options });
  }

  /** Makes an attempt's files what they were in a snapshot; undone by restoring another. */
  restoreFiles(attemptId: string, body: T.RestoreFilesRequest, options?: CallOptions): Promise<T.FilesRestored> {
    return this.call(operations.restoreFiles, { path: { attempt_id: attemptId }, body, options });
  }

  /** Puts back what was found changed, if it is still as it was found; what it replaces is kept. */
  restoreFinding(attemptId: string, findingId: string, options?: CallOptions): Promise<T.Finding> {
    return this.call(operations.restoreFinding, { path: { attempt_id: attemptId, finding_id: findingId }, options });
  }

  /** Says whether an agent is ready, or what a person must do first; nothing is installed. */
  runAgentSetup(attemptId: string, body: T.RunAgentSetupRequest, options?: CallOptions): Promise<T.RunAgentSetupResponse> {
    return this.call(operations.runAgentSetup, { path: { attempt_id: attemptId }, body, options });
  }

  /** Writes a draft: an absent key keeps. Refused while it is queued or when its version is older. */
  saveDraft(attemptId: string, body: T.SaveDraft, query: { type: "follow_up" | "retry" }, options?: CallOptions): Promise<T.DraftResponse> {
    return this.call(operations.saveDraft, { path: { attempt_id: attemptId }, body, query, options });
  }

  /** Writes a draft: an absent key keeps. Refused while it is queued or when its version is older. */
  saveDraftByPost(attemptId: string, body: T.SaveDraft, query: { type: "follow_up" | "retry" }, options?: CallOptions): Promise<T.DraftResponse> {
    return this.call(operations.saveDraftByPost, { path: { attempt_id: attemptId }, body, query, options });
  }

  /** Finds files by a part of their name: ten at most, the best first. */
  searchProjectFiles(projectId: string, query: { q: string; mode?: "taskform" | "settings" }, options?: CallOptions): Promise<T.SearchResult[]> {
    return this.call(operations.searchProjectFiles, { path: { project_id: projectId }, query, options });
  }

  /** Notes that a person looked at an attempt. */
  seeTaskAttempt(attemptId: string, options?: CallOptions): Promise<T.TaskAttempt> {
    return this.call(operations.seeTaskAttempt, { path: { attempt_id: attemptId }, options });
  }

  /** Puts these in the place of all rules of a project. */
  setRules(projectId: string, body: T.SetRules, options?: CallOptions): Promise<T.Rule[]> {
    return this.call(operations.setRules, { path: { project_id: projectId }, body, options });
  }

  /** Starts an attempt's dev server anew on ports of its own; those of other attempts stay. */
  startDevServer(attemptId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.startDevServer, { path: { attempt_id: attemptId }, options });
  }

  /** Starts a login at GitHub: a code to type there. An earlier one is given up. */
  startGithubLogin(options?: CallOptions): Promise<T.DeviceFlowStart> {
    return this.call(operations.startGithubLogin, { options });
  }

  /** Stops a run, and answers when none of its processes is left. */
  stopExecutionProcess(runId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.stopExecutionProcess, { path: { run_id: runId }, options });
  }

  /** Stops an attempt without a task, and answers when no process is left. */
  stopExecutionRun(executionRunId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.stopExecutionRun, { path: { execution_run_id: executionRunId }, options });
  }

  /** Stops every process of an attempt, and answers when none is left. */
  stopTaskAttempt(attemptId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.stopTaskAttempt, { path: { attempt_id: attemptId }, options });
  }

  /** Takes the last merge of an attempt back, unless somebody has built on it or was given it. */
  undoTaskAttemptMerge(attemptId: string, options?: CallOptions): Promise<null> {
    return this.call(operations.undoTaskAttemptMerge, { path: { attempt_id: attemptId }, options });
  }

  /** Lays the given keys over the settings; the mask in place of a secret keeps it. */
  updateConfig(body: T.ConfigChange, options?: CallOptions): Promise<T.Config> {
    return this.call(operations.updateConfig, { body, options });
  }

  /** Lays keys over the settings that hold for every project. */
  updateForgeConfig(body: T.UpdateForgeProjectSettings, options?: CallOptions): Promise<T.ForgeProjectSettings> {
    return this.call(operations.updateForgeConfig, { body, options });
  }

  /** Lays keys over a project's own settings. */
  updateForgeProjectSettings(projectId: string, body: T.UpdateForgeProjectSettings, options?: CallOptions): Promise<T.ForgeProjectSettings> {
    return this.call(operations.updateForgeProjectSettings, { path: { project_id: projectId }, body, options });
  }

  /** Replaces the MCP servers in an agent's own settings file. */
  updateMcpConfig(body: T.UpdateMcpServers, query: { executor: string }, options?: CallOptions): Promise<string> {
    return this.call(operations.updateMcpConfig, { body, query, options });
  }

  /** Replaces all profiles. */
  updateProfiles(body: Record<string, unknown>, options?: CallOptions): Promise<string> {
    return this.call(operations.updateProfiles, { body, options });
  }

  /** Changes a project: an absent key keeps, null clears. */
  updateProject(projectId: string, body: T.UpdateProject, options?: CallOptions): Promise<T.Project> {
    return this.call(operations.updateProject, { path: { project_id: projectId }, body, options });
  }

  /** Changes a review comment: an absent key keeps. */
  updateReviewComment(attemptId: string, commentId: string, body: T.UpdateReviewComment, options?: CallOptions): Promise<T.ReviewComment> {
    return this.call(operations.updateReviewComment, { path: { attempt_id: attemptId, comment_id: commentId }, body, options });
  }

  /** Changes a tag: an absent key keeps. */
  updateTag(tagId: string, body: T.UpdateTag, options?: CallOptions): Promise<T.Tag> {
    return this.call(operations.updateTag, { path: { tag_id: tagId }, body, options });
  }

  /** Changes a task: an absent key keeps. */
  updateTask(taskId: string, body: T.UpdateTask, options?: CallOptions): Promise<T.Task> {
    return this.call(operations.updateTask, { path: { task_id: taskId }, body, options });
  }

  /** Changes a task: an absent key keeps. */
  updateTaskOfProject(projectId: string, taskId: string, body: T.UpdateTask, options?: CallOptions): Promise<T.Task> {
    return this.call(operations.updateTaskOfProject, { path: { project_id: projectId, task_id: taskId }, body, options });
  }

  /** Changes a template: an absent key keeps, a description of null is cleared. */
  updateTaskTemplate(templateId: string, body: T.UpdateTaskTemplate, options?: CallOptions): Promise<T.TaskTemplate> {
    return this.call(operations.updateTaskTemplate, { path: { template_id: templateId }, body, options });
  }

  /** Keeps a picture; the same bytes are the same image. */
  uploadImage(file: Blob, options?: CallOptions): Promise<T.ImageResponse> {
    return this.call(operations.uploadImage, { file, options });
  }

  /** Keeps a picture and gives it to a task. */
  uploadTaskImage(taskId: string, file: Blob, options?: CallOptions): Promise<T.ImageResponse> {
    return this.call(operations.uploadTaskImage, { path: { task_id: taskId }, file, options });
  }

  /** Tries a gateway and a key. */
  validateOmniConfig(body: T.ValidateOmni, options?: CallOptions): Promise<T.OmniValidation> {
    return this.call(operations.validateOmniConfig, { body, options });
  }

  /** What a browser asks to put the page among its apps. */
  webManifest(options?: CallOptions): Promise<string> {
    return this.call(operations.webManifest, { options });
  }

  /** Takes a follow-up that waits back. */
  withdrawQueued(attemptId: string, item: string, options?: CallOptions): Promise<T.QueuedFollowUp[]> {
    return this.call(operations.withdrawQueued, { path: { attempt_id: attemptId, item }, options });
  }
}
