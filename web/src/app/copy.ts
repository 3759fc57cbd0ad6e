// Puts a text where the person can paste it from. A browser that does not let a page do that gets the text shown instead.

import { say } from "./notices";

/** `what` begins the sentence: "The link". */
export async function copy(text: string, what: string) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} is copied.`);
  } catch {
    say(`This browser lets a page copy only over TLS or on localhost. ${what}: ${text}`);
  }
}
