// GitHub Copilot CLI, by the Agent Client Protocol, with a provider of one's own.

import { planByMode, rateLimit } from "../../kit/acp.mjs";

const write = (path, content) => (cwd) => ({ name: "create", args: { path: `${cwd}/${path}`, file_text: content } });
const run = (command) => () => ({ name: "bash", args: { command, description: "Run it" } });

export default {
  name: "copilot",
  agent: "COPILOT",
  tools: { write, run, asked: write },
  usage: "all",
  env: ({ model }) => ({
    COPILOT_OFFLINE: "true",
    COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
    COPILOT_PROVIDER_API_KEY: "scripted",
    COPILOT_MODEL: "gpt-4.1",
    COPILOT_AUTO_UPDATE: "false",
  }),
  variants: { GENIE: { allow_all_tools: true }, APPROVALS: { allow_all_tools: false } },
  // It tries again by itself, unless that would take too long.
  limit: (reset) => ({ headers: { "retry-after": "3600" }, ...rateLimit(reset) }),
  plan: planByMode(write),
};
