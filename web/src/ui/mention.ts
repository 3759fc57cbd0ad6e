// Where a person is about to name something with `@`, and what the text becomes when they have chosen.

export type Mention = { from: number; to: number; word: string };

/** The `@word` that the caret stands in, if it begins a word. */
export function mentionAt(text: string, caret: number): Mention | null {
  const match = /(?:^|[\s(])@([\w./-]*)$/.exec(text.slice(0, caret));
  if (!match) return null;
  const word = match[1] ?? "";
  return { from: caret - word.length - 1, to: caret, word };
}

/** The text with the mention replaced, and where the caret goes. */
export function replaced(text: string, { from, to }: Mention, by: string): { text: string; caret: number } {
  const rest = text.slice(to);
  const space = rest.startsWith(" ") || by.endsWith("\n") ? "" : " ";
  return { text: text.slice(0, from) + by + space + rest, caret: from + by.length + space.length };
}
