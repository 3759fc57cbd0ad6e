// opencode, by the Agent Client Protocol.

import { planByMode, rateLimit } from "../../kit/acp.mjs";
import { subtask } from "../../scenarios/tools.mjs";

const write = (path, content) => (cwd) => ({ name: "write", args: { filePath: `${cwd}/${path}`, content } });
const run = (command) => () => ({ name: "bash", args: { command, description: "Run it" } });

export default {
  name: "opencode",
  agent: "OPENCODE",
  tools: { write, run, asked: write },
  usage: "lastOfTurn",
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  }),
  files: ({ model }) => ({
    ".config/opencode/opencode.json": {
      provider: {
        scripted: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: `${model.url}/v1`, apiKey: "scripted" },
          models: { "fake-model": { name: "Scripted" } },
        },
      },
      model: "scripted/fake-model",
      small_model: "scripted/fake-model",
      enabled_providers: ["scripted"],
      share: "disabled",
      autoupdate: false,
    },
  }),
  forgeTools: { lookUp: () => [], tool: (name, args) => ({ name: `forge_${name}`, args }) },
  extras: [subtask],
  variants: {
    TOOLS: { auto_approve: true, forge_mcp: true },
    GENIE: { auto_approve: true },
    APPROVALS: { auto_approve: false },
  },
  limit: (reset) => ({ silent: true, ...rateLimit(reset) }),
  plan: planByMode(write),
};
