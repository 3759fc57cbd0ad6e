// What the page of this address will need is asked for at once, while the frame is still being drawn: its script, and
// the answer that it would ask for first. A page that is not named here asks when it is drawn.

import { askAhead } from "../api/client";
import { entriesOf } from "../api/entries";

export function lookAhead({ pathname, search }: { pathname: string; search: string }) {
  const [, kind, id] = pathname.split("/");
  if (kind !== "a" || !id) return;
  askAhead(entriesOf(id, new URLSearchParams(search).get("entry")));
  // Whoever draws it is told why it did not come.
  for (const script of [
    import("../attempt/AttemptPage"),
    import("../changes/Changes"),
    import("../landing/LandingStrip"),
  ])
    script.catch(() => {});
}
