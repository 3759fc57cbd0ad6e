// A link that `forge serve` prints for other machines holds the token behind a `#`, where no request carries it. It is
// given to the server for its cookie, and is gone from the address before anything else is done.

import { post } from "./client";

/** Takes the token from the address, if there is one. What is refused is asked for again by the page itself. */
export async function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("t");
  if (!token) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  const isTaken = await post("/session", { token }).then(
    () => true,
    () => false,
  );
  if (!isTaken) return;
  // What the page asked for before its script ran was refused; with the cookie it begins anew.
  location.reload();
  await new Promise(() => {});
}
