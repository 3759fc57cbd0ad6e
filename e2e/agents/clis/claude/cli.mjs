// Claude Code, by its stream-json protocol.

import assert from "node:assert/strict";

import { person, subtask } from "../../scenarios/tools.mjs";

const write = (path, content) => (cwd) => ({ name: "Write", args: { file_path: `${cwd}/${path}`, content } });
const run = (command) => () => ({ name: "Bash", args: { command, description: "Run it" } });

export default {
  name: "claude",
  agent: "CLAUDE_CODE",
  program: "claude",
  node22: true,
  tools: { write, run, asked: write },
  usage: "all",
  env: ({ model }) => ({
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "scripted",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "1",
    DISABLE_AUTOUPDATER: "1",
    // Whoever is root may skip permissions only in a sandbox, which a network namespace is enough of.
    IS_SANDBOX: "1",
  }),
  forgeTools: {
    setUp: () => ["mcp", "add", "forge", "--", "forge", "mcp"],
    ask: (prompt) => ["--print", "--allowedTools=mcp__forge", prompt],
    // Tools of MCP are known by their names alone until they are looked up.
    lookUp: (names) => {
      const query = `select:${names.map((name) => `mcp__forge__${name}`).join(",")}`;
      return [{ call: () => ({ name: "ToolSearch", args: { query, max_results: names.length } }) }];
    },
    tool: (name, args) => ({ name: `mcp__forge__${name}`, args }),
  },
  variants: {
    TOOLS: { dangerously_skip_permissions: true, forge_mcp: true },
    // Only whoever is logged in hears when a limit ends.
    SUBSCRIBED: {
      dangerously_skip_permissions: true,
      env: { ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-scripted" },
    },
  },
  limit: (reset) => ({
    variant: "SUBSCRIBED",
    headers: {
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-representative-claim": "five_hour",
      "anthropic-ratelimit-unified-reset": String(reset),
      "retry-after": String(reset - Math.floor(Date.now() / 1000)),
    },
  }),

  extras: [
    person,
    subtask,
    {
      name: "question",
      title: "a question answered",
      async play(cell) {
        const options = ["Red", "Blue"].map((label) => ({ label, description: `It is ${label}` }));
        const questions = [{ question: "Which colour?", header: "Colour", multiSelect: false, options }];
        const script = cell.script([
          { call: () => ({ name: "AskUserQuestion", args: { questions } }) },
          { text: "I see." },
        ]);
        const attempt = await cell.start(script, { variant: "APPROVALS" });
        const ask = await cell.asked(attempt);
        assert.equal(ask.kind, "question");
        await cell.answer(ask, { status: "approved" }, { text: "Blue" });
        const { run } = await cell.ended(attempt);
        assert.equal(run.status, "completed");
        const heard = cell.model.turns(script.id)[1].talk.findLast((part) => part.who === "result").text;
        assert.match(heard, /Blue/);
      },
    },
  ],

  /** The plan is a question of its own; once it is approved, the agent works. */
  async plan(cell) {
    const script = cell.script([
      // The tool that ends planning is one of those that must be looked up first.
      { call: () => ({ name: "ToolSearch", args: { query: "select:ExitPlanMode", max_results: 1 } }) },
      { call: () => ({ name: "ExitPlanMode", args: { plan: "1. Write the file." } }) },
      { call: write("planned.txt", "as planned") },
      { text: "Done as planned." },
    ]);
    const attempt = await cell.start(script, { variant: "PLAN" });
    const ask = await cell.asked(attempt);
    assert.equal(ask.kind, "plan");
    assert.ok(!cell.has(attempt, "planned.txt"));
    await cell.answer(ask, { status: "approved" });
    const { run } = await cell.ended(attempt);
    assert.equal(run.status, "completed");
    assert.equal(cell.read(attempt, "planned.txt").trim(), "as planned");
  },
};
