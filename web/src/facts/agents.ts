// What people call an agent, from the name it has in the API.

const WORDS: Record<string, string> = {
  ACP: "ACP agent",
  AMP: "Amp",
  CLAUDE_CODE: "Claude",
  CLINE: "Cline",
  CODEX: "Codex",
  COMMAND: "Command",
  COPILOT: "Copilot",
  CURSOR_AGENT: "Cursor",
  DROID: "Droid",
  GEMINI: "Gemini",
  GOOSE: "goose",
  KIMI: "Kimi",
  OPENCODE: "OpenCode",
  QWEN_CODE: "Qwen",
  SCRIPTED: "Scripted",
};

/** `CLAUDE_CODE` as "Claude"; one that is not known as its own name in lower case. */
export const agentWord = (executor: string) => WORDS[executor] ?? executor.toLowerCase().replaceAll("_", " ");

/** A profile as "Claude / plan"; the usual variant is not named. */
export function profileWords({ executor, variant }: { executor: string; variant?: string | null }): string {
  const which =
    variant && variant !== "DEFAULT" && variant !== "GENIE"
      ? ` / ${variant.toLowerCase().replaceAll("_", " ")}`
      : "";
  return agentWord(executor) + which;
}
