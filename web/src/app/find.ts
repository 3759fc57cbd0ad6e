// Finding by a few typed letters: every typed word must be somewhere in the text, the nearer to the beginning of a word
// the better.

export type Found<T> = { thing: T; score: number };

const BEGIN = 4;
const WORD = 3;
const INSIDE = 1;

/** How well a text fits what was typed; 0 when it does not, and everything fits nothing typed. */
export function nearness(text: string, typed: string): number {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return 1;
  const within = text.toLowerCase();
  let score = 0;
  for (const word of words) {
    const at = within.indexOf(word);
    if (at === 0) score += BEGIN;
    else if (at > 0) score += beginsWord(within, word) ? WORD : INSIDE;
    else if (isSpread(within, word)) score += 0.25;
    else return 0;
  }
  // Of two that fit equally the shorter one is nearer.
  return score + 1 / (1 + within.length);
}

function beginsWord(text: string, word: string) {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? "")) return true;
  }
  return false;
}

/** The letters occur in this order, as in `ptw` for "Pay the wages". Two letters would fit nearly everything. */
function isSpread(text: string, letters: string) {
  if (letters.length < 3) return false;
  let at = 0;
  for (const letter of text) {
    if (letter === letters[at]) at += 1;
    if (at === letters.length) return true;
  }
  return false;
}

/** The best of a list, the better first; of equals the earlier. */
export function best<T>(
  things: readonly T[],
  typed: string,
  textOf: (thing: T) => string,
  most: number,
): Found<T>[] {
  return things
    .map((thing) => ({ thing, score: nearness(textOf(thing), typed) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, most);
}
