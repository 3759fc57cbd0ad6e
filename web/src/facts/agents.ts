// What people call an agent, from the name it has in the API, and what it can do.

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

/** Agents that take something in while they work; others are told when their turn ends. */
const STEERABLE = new Set(["CLAUDE_CODE", "CODEX", "SCRIPTED"]);

export const canSteer = (executor: string) => STEERABLE.has(executor);

type Profile = { executor: string; variant?: string | null };

/** The variant that a profile without one means is called by neither of its names. */
const isUsual = (variant: string | null | undefined): variant is null | undefined =>
  !variant || variant === "GENIE" || variant === "DEFAULT";

const variantWords = (variant: string) => variant.toLowerCase().replaceAll("_", " ");

/** A profile as "Claude / plan"; the usual variant is not named. */
export const profileWords = ({ executor, variant }: Profile) =>
  agentWord(executor) + (isUsual(variant) ? "" : ` / ${variantWords(variant)}`);

/** The same where profiles are chosen from: "Claude / default". */
export const profileInFull = ({ executor, variant }: Profile) =>
  `${agentWord(executor)} / ${isUsual(variant) ? "default" : variantWords(variant)}`;

/** A profile as one word, for a select and for what a browser remembers: `CODEX`, `CODEX:HIGH`. */
export const profileKey = ({ executor, variant }: Profile) =>
  isUsual(variant) ? executor : `${executor}:${variant}`;

export function profileOf(key: string): { executor: string; variant: string | null } {
  const [executor = "", variant] = key.split(":");
  return { executor, variant: variant ?? null };
}
