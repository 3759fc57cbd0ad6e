// Gemini CLI, by the Agent Client Protocol.

import { planByMode } from "../../kit/acp.mjs";
import { eventually } from "../../kit/wait.mjs";
import { subtask } from "../../scenarios/tools.mjs";

const write = (path, content) => (cwd) => ({ name: "write_file", args: { file_path: `${cwd}/${path}`, content } });
const run = (command) => () => ({ name: "run_shell_command", args: { command, description: "Run it" } });

/** A session that is loaded in the minute of its start is overwritten: the file's name has the minute and nothing finer. */
function nextMinute() {
  const minute = new Date().getMinutes();
  return eventually("the next minute comes", () => new Date().getMinutes() !== minute);
}

export default {
  name: "gemini",
  agent: "GEMINI",
  tools: { write, run, asked: write },
  usage: "uncached",
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
  forgeTools: { lookUp: () => [], tool: (name, args) => ({ name: `mcp_forge_${name}`, args }) },
  extras: [subtask],
  variants: { TOOLS: { yolo: true, forge_mcp: true }, GENIE: { yolo: true }, APPROVALS: { yolo: false } },
  // A quota of the day: it tries again for ten minutes after any other.
  limit: (reset) => ({
    timeless: true,
    body: {
      error: {
        code: 429,
        message: `You exceeded your current quota; it is full again at ${new Date(reset * 1000).toISOString()}`,
        status: "RESOURCE_EXHAUSTED",
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            violations: [{ quotaMetric: "requests", quotaId: "GenerateRequestsPerDayPerProjectPerModel" }],
          },
        ],
      },
    },
  }),
  // Of a command it tells neither the exit code nor what was printed on standard error, and calls it completed.
  hidesFailures: true,
  hidesExitCodes: true,
  beforeFollowUp: nextMinute,
  plan: planByMode(write),
};
