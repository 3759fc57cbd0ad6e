// The words of the composer: its button always says what will happen.

import type { AttemptState } from "../../api/types";

/** Agents that take something in while they work; others are told when their turn ends. */
const STEERABLE = new Set(["CLAUDE_CODE", "CODEX", "SCRIPTED"]);

export const canSteer = (executor: string) => STEERABLE.has(executor);

export const isWorking = (state: AttemptState) =>
  state === "running" || state === "waiting" || state === "queued";

export function sendWord(state: AttemptState): "Send" | "Queue" {
  return isWorking(state) ? "Queue" : "Send";
}

export function placeholder(state: AttemptState, agent: string): string {
  if (state === "waiting") return `${agent} waits for your answer. A message is sent after this turn.`;
  if (isWorking(state)) return `${agent} is working. Your message is sent after this turn.`;
  return `Reply to ${agent}…`;
}

/** What is told to the agent: the text, and the pictures it speaks of. */
export function promptOf(text: string, images: ReadonlyArray<{ name: string; path: string }>): string {
  const pictures = images.map(({ name, path }) => `![${name.replace(/[[\]]/g, "")}](${path})`);
  return [text.trim(), ...pictures].filter((it) => it !== "").join("\n\n");
}

type Pressed = { key: string; shiftKey: boolean; isMod: boolean };

/** What a key in the box means. A phone's Enter is a new line: there is no other way to make one. */
export function keyMeans(
  { key, shiftKey, isMod }: Pressed,
  sendWith: "Enter" | "Mod+Enter",
  isTouch: boolean,
): "send" | "send now" | null {
  if (key !== "Enter") return null;
  if (isMod) return shiftKey ? "send now" : "send";
  return sendWith === "Enter" && !shiftKey && !isTouch ? "send" : null;
}
