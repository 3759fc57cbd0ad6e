// Gemini CLI, by the Agent Client Protocol.

import { planByMode } from "../../kit/acp.mjs";

const write = (path, content) => (cwd) => ({ name: "write_file", args: { file_path: `${cwd}/${path}`, content } });
const run = (command) => () => ({ name: "run_shell_command", args: { command, description: "Run it" } });

export default {
  name: "gemini",
  agent: "GEMINI",
  tools: { write, run, asked: write },
  env: ({ model }) => ({
    GEMINI_API_KEY: "scripted",
    GOOGLE_GEMINI_BASE_URL: model.url,
    GEMINI_CLI_TRUST_WORKSPACE: "true",
  }),
  files: () => ({
    ".gemini/settings.json": {
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
      telemetry: { enabled: false },
    },
  }),
  variants: { GENIE: { yolo: true }, APPROVALS: { yolo: false } },
  plan: planByMode(write),
};
