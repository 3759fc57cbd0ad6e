// What the page of this address will need is asked for at once, while the frame's own script is still on its way: its
// script, and the answers that it would ask for first. A page that is not named here asks when it is drawn.

import { askAhead } from "../api/client";
import { entriesOf } from "../api/entries";
import { live, whenAway } from "../api/live";
import { AttemptPage, BoardPage, Changes, InboxPage, LandingStrip, SettingsPage } from "./parts";

/** The answer is there when the page's scripts are, or when they cannot come now: the page itself says why. */
export async function lookAhead({ pathname, search }: { pathname: string; search: string }) {
  const [, kind = "", id] = pathname.split("/");
  const query = new URLSearchParams(search);
  if (kind === "a" && id) {
    askAhead(entriesOf(id, query.get("entry")));
    // What a phone shows first is the conversation.
    if ((query.get("tab") ?? "changes") === "changes") live.ahead(`diff-stats:${id}`);
  }
  await Promise.race([Promise.allSettled(partsOf(kind).map((part) => part.ahead())), whenAway()]);
}

function partsOf(kind: string): ReadonlyArray<{ ahead(): Promise<unknown> }> {
  switch (kind) {
    case "":
    case "p":
      return [BoardPage];
    case "a":
      return [AttemptPage, Changes, LandingStrip];
    case "inbox":
      return [InboxPage];
    case "settings":
      return [SettingsPage];
    default:
      return [];
  }
}
