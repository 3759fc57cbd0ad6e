// One cell of the matrix: what a scenario needs to play itself with one CLI, through Forge's API alone.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";

import { recording } from "./recording.mjs";
import { counted, told } from "./usage.mjs";
import { eventually } from "./wait.mjs";

/** Thrown by a scenario that a CLI does not offer; the recording shows it. */
export class NotOffered extends Error {}

export class Cell {
  /** The attempts that were started. */
  attempts = [];
  #scripts = [];

  constructor({ world, scenario }) {
    this.world = world;
    this.cli = world.cli;
    this.forge = world.forge;
    this.model = world.model;
    this.scenario = scenario;
  }

  /** Registers what the model will do; see Model.register. */
  script(replies, part = "") {
    const id = `${this.cli.name}-${this.scenario.name}${part}`;
    const script = this.model.register(id, replies);
    this.#scripts.push(script);
    return script;
  }

  /** Starts a task with an agent that plays a script. */
  async start(script, { variant, words = "Please do what the script says." } = {}) {
    const started = await this.forge.post("/api/tasks/create-and-start", {
      task: { project_id: this.world.project, title: `Play ${this.scenario.name}`, description: `${words} ${script.marker}` },
      executor_profile_id: { executor: this.cli.agent, variant: variant ?? null },
      base_branch: "main",
    });
    const attempt = started.attempt;
    this.attempts.push(attempt.id);
    script.runsIn(attempt.container_ref);
    return attempt;
  }

  async followUp(attempt, script, words = "And now this.") {
    script.runsIn(attempt.container_ref);
    return this.forge.post(`/api/task-attempts/${attempt.id}/follow-up`, { prompt: `${words} ${script.marker}` });
  }

  attempt({ id }) {
    return this.forge.get(`/api/task-attempts/${id}`);
  }

  async runs({ id }) {
    const runs = await this.forge.get(`/api/execution-processes?task_attempt_id=${id}`);
    return runs.filter((run) => run.run_reason === "codingagent");
  }

  /** Waits until nothing runs for an attempt, and returns its last run and the attempt itself. */
  ended(attempt, count = 1) {
    return eventually(`attempt ${attempt.id} ends`, async () => {
      const now = await this.attempt(attempt);
      const runs = await this.runs(attempt);
      const over = runs.length >= count && runs.every((run) => run.status !== "running");
      return over && !["running", "waiting", "queued"].includes(now.state) ? { run: runs.at(-1), runs, attempt: now } : null;
    });
  }

  /** Waits for what an agent asks; fails when it ends without. */
  asked(attempt) {
    return eventually(`attempt ${attempt.id} asks`, async () => {
      const asks = await this.forge.get("/api/approvals/pending");
      const ask = asks.find((one) => one.task_attempt_id === attempt.id);
      if (ask) return ask;
      const runs = await this.runs(attempt);
      if (runs.length > 0 && runs.every((run) => run.status !== "running")) {
        throw new Error(`the agent ended (${runs.at(-1).status}) without asking`);
      }
      return null;
    });
  }

  answer(ask, status, more = {}) {
    const body = { execution_process_id: ask.execution_process_id, status, ...more };
    return this.forge.post(`/api/approvals/${ask.approval_id}/respond`, body);
  }

  /** Refuses whatever an attempt asks until it ends. */
  async denyAll(attempt) {
    await eventually(`attempt ${attempt.id} ends`, async () => {
      const asks = await this.forge.get("/api/approvals/pending");
      for (const ask of asks.filter((one) => one.task_attempt_id === attempt.id)) {
        await this.answer(ask, { status: "denied", reason: "Only plan." });
      }
      const runs = await this.runs(attempt);
      return runs.length > 0 && runs.every((run) => run.status !== "running");
    });
  }

  /** What people see of an attempt, newest last. */
  async entries({ id }) {
    const { entries } = await this.forge.get(`/api/task-attempts/${id}/entries?limit=1000`);
    return entries.map(({ entry }) => entry);
  }

  /** Checks that people see an entry: of a type, with a text, and for a tool call what it does and how it stands. */
  async shows(attempt, { type, content, action, status, ...more }) {
    const entries = await this.entries(attempt);
    const found = entries.filter(({ entry_type: kind, content: text }) => {
      if (kind.type !== type || (content && !content.test(text))) return false;
      if (action && kind.action_type?.action !== action) return false;
      return !status || kind.status?.status === status;
    });
    const wanted = JSON.stringify({ type, content: content && String(content), action, status });
    assert.ok(found.length > 0, `no entry is ${wanted}; there are\n${entries.map(brief).join("\n")}`);
    if (more.times) assert.equal(found.length, more.times, `${wanted} stands there ${found.length} times`);
    return found[0];
  }

  /** Waits until the model is asked to play a reply of a script. */
  requested(script, place = 0) {
    return eventually(`the model is asked for reply ${place}`, () =>
      this.model.turns(script.id).find((request) => request.place === place),
    );
  }

  /** Checks that an attempt has used what the model served for its scripts, a script for each turn. */
  countsAs(attempt, scripts) {
    const turns = scripts.map(({ id }) => this.model.turns(id).flatMap(({ usage }) => usage ?? []));
    assert.deepEqual(counted(attempt), told(this.cli.usage, turns), "what was used");
  }

  has(attempt, file) {
    return existsSync(`${attempt.container_ref}/${file}`);
  }

  read(attempt, file) {
    return readFileSync(`${attempt.container_ref}/${file}`, "utf8");
  }

  /** What the agents of an attempt and Forge said to each other. */
  async recordings(attempt) {
    const runs = await this.runs(attempt);
    return runs.map((run) => recording(`${this.world.data}/runs/${run.id}`));
  }

  /** Checks what holds after every scenario: the model's log agrees with the scripts, and no process is left. */
  async check() {
    for (const script of this.#scripts) assert.deepEqual(this.model.complaints(script.id), []);
    await this.nothingLeft();
  }

  async nothingLeft() {
    let left = [];
    try {
      await eventually("no process is left", () => (left = this.world.left()).length === 0, 10_000);
    } catch {
      const told = left.map(({ pid, command }) => `${pid} ${command.slice(0, 150)}`);
      throw new Error(`processes are left:\n${told.join("\n")}`);
    }
  }
}

const brief = ({ entry_type: kind, content }) => `    ${JSON.stringify(kind).slice(0, 200)} ${JSON.stringify(content).slice(0, 200)}`;
