// Qwen Code, by the Agent Client Protocol.

import { planByMode, rateLimit } from "../../kit/acp.mjs";

const write = (path, content) => (cwd) => ({ name: "write_file", args: { file_path: `${cwd}/${path}`, content } });
const run = (command) => () => ({
  name: "run_shell_command",
  args: { command, description: "Run it", is_background: false },
});

export default {
  name: "qwen",
  agent: "QWEN_CODE",
  node22: true,
  tools: { write, run, asked: write },
  usage: "all",
  env: ({ model }) => ({
    OPENAI_API_KEY: "scripted",
    OPENAI_BASE_URL: `${model.url}/v1`,
    OPENAI_MODEL: "fake-model",
  }),
  files: () => ({
    ".qwen/settings.json": {
      security: { auth: { selectedType: "openai" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
      telemetry: { enabled: false },
      // It would ask the model on its own account after every turn.
      ui: { enableFollowupSuggestions: false },
      memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
    },
  }),
  variants: { GENIE: { yolo: true }, APPROVALS: { yolo: false } },
  limit: (reset) => ({ silent: true, ...rateLimit(reset) }),
  plan: planByMode(write),
};
