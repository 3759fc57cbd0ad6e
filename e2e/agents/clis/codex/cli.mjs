// Codex, by its app-server.

import assert from "node:assert/strict";

import { person, subtask } from "../../scenarios/tools.mjs";

// A model that Codex does not know gets plain tools; the ones it knows are told to write JavaScript.
const run = (cmd) => () => ({ name: "exec_command", args: { cmd } });
const write = (path, content) => run(`printf '%s' '${content}' > ${path}`);

export default {
  name: "codex",
  agent: "CODEX",
  program: "codex",
  tools: { write, run, asked: write },
  writesBy: "command_run",
  usage: "all",
  env: () => ({ SCRIPTED_KEY: "scripted" }),
  forgeTools: {
    // Codex gives a server few of its own variables.
    setUp: ({ data }) => ["mcp", "add", "forge", "--env", `FORGE_HOME=${data}`, "--", "forge", "mcp"],
    ask: (prompt) => ["exec", "--dangerously-bypass-approvals-and-sandbox", prompt],
    lookUp: () => [],
    tool: (name, args) => ({ name, args }),
  },
  variants: {
    TOOLS: { sandbox: "danger-full-access", ask_for_approval: "never", forge_mcp: true },
  },
  extras: [person, subtask],
  files: ({ model }) => ({
    ".codex/config.toml": `
model = "scripted-model"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "Scripted"
base_url = "${model.url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1
`,
  }),
  limit: (reset) => ({
    // What the provider tells beside its refusal; the body alone gives Codex words, but no moment for its clients.
    headers: {
      "x-codex-primary-used-percent": "100",
      "x-codex-primary-window-minutes": "300",
      "x-codex-primary-reset-at": String(reset),
    },
    body: {
      error: { type: "usage_limit_reached", message: "The usage limit has been reached", plan_type: "pro", resets_at: reset },
    },
  }),

  /** A plan is the whole of a turn; a follow-up in another variant carries it out. */
  async plan(cell) {
    const script = cell.script([{ text: "<proposed_plan>\n1. Write the file.\n2. Read it again.\n</proposed_plan>\n" }]);
    const attempt = await cell.start(script, { variant: "PLAN" });
    const { run } = await cell.ended(attempt);
    assert.equal(run.status, "completed");
    const shown = await cell.shows(attempt, { type: "tool_use", action: "plan_presentation", times: 1 });
    assert.match(shown.entry_type.action_type.plan, /1\. Write the file\.\n2\. Read it again\./);
  },
};
