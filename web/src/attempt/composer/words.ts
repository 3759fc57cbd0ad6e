// The words of the composer: its button always says what will happen.

import type { AttemptState } from "../../api/types";

export const isWorking = (state: AttemptState) =>
  state === "running" || state === "waiting" || state === "queued";

export function sendWord(state: AttemptState): "Send" | "Queue" {
  return isWorking(state) ? "Queue" : "Send";
}

export function placeholder(state: AttemptState, agent: string, answers: boolean): string {
  if (answers) return `Answer ${agent} here or above…`;
  if (state === "waiting") return `${agent} waits for your answer. A message is sent after this turn.`;
  if (isWorking(state)) return `${agent} is working. Your message is sent after this turn.`;
  return `Reply to ${agent}…`;
}

export type Picture = { id: string; name: string; path: string };

/** What is told to the agent: the text, and the pictures it speaks of. */
export function promptOf(text: string, images: ReadonlyArray<Omit<Picture, "id">>): string {
  const pictures = images
    .filter(({ path }) => path !== "")
    .map(({ name, path }) => `![${name.replace(/[[\]]/g, "")}](${path})`);
  return [text.trim(), ...pictures].filter((it) => it !== "").join("\n\n");
}

/** The other way: what stands in the box for a prompt that speaks of pictures at its end. */
export function partsOf(
  prompt: string,
  ids: readonly string[],
): { text: string; images: readonly Picture[] } {
  const parts = prompt.split("\n\n");
  const images: Picture[] = [];
  for (const id of ids.toReversed()) {
    const [whole, name, path] = /^!\[([^\]\n]*)\]\(([^)\n]+)\)$/.exec(parts.at(-1) ?? "") ?? [];
    if (whole) parts.pop();
    images.unshift({ id, name: name || "picture", path: path ?? "" });
  }
  return { text: parts.join("\n\n"), images };
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
