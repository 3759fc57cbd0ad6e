// Notices of what comes into the inbox: by the browser, by a sound, and to whoever listens. Never of what the person is
// looking at, and never of what happened while the connection was away.

import { live } from "../api/live";
import { hear, world } from "../api/world";
import { type InboxItem, inboxOf } from "../facts/inbox";
import { announce } from "./announce";
import { isWorthTelling, lineOf, newsOf, sentenceOfAll, wayOf } from "./noticeRules";
import { preferences } from "./preferences";
import { playSound } from "./sound";

/** Events of one act come close together. */
const GATHER = 250;
/** How long a new connection is given to catch up before news is news again. */
const CATCH_UP = 2000;
const ANNOUNCE_EVERY = 5000;
const [MANY, WITHIN] = [3, 10_000];

/** Begins to tell; called once, by `draw.tsx`. */
export function startNotices() {
  const begun = Date.now();
  let known: ReadonlySet<string> = new Set();
  let isGathering = false;
  const look = () => {
    isGathering = false;
    const items = inboxOf(world());
    const before = known;
    known = new Set(items.map((item) => item.id));
    const { connection } = live;
    const isCatchingUp = connection.state !== "online" || Date.now() - connection.since < CATCH_UP;
    if (!isCatchingUp) tell(newsOf(before, items, begun, Date.now()));
  };
  hear(() => {
    if (isGathering) return;
    isGathering = true;
    setTimeout(look, GATHER);
  });
}

function tell(news: readonly InboxItem[]) {
  if (news.length === 0) return;
  sayAloud(news);
  const told = news.filter((item) => isWorthTelling(item, world()) && !isLookedAt(item.attempt.id));
  const ways = (item: InboxItem) => wayOf(preferences().notices, item.kind);
  for (const item of told.filter((item) => ways(item).browser)) show(item);
  if (told.some((item) => ways(item).sound)) void playSound();
}

const isLookedAt = (attempt: string) =>
  !document.hidden && document.hasFocus() && location.pathname === `/a/${attempt}`;

let shownAt: number[] = [];

function show(item: InboxItem) {
  const now = Date.now();
  shownAt = [...shownAt.filter((at) => now - at < WITHIN), now];
  if (shownAt.length > MANY)
    void notice(`${inboxOf(world()).length} things need you`, { tag: "forge", to: "/inbox" });
  else
    void notice(lineOf(item), {
      body: item.reason ?? undefined,
      tag: item.attempt.id,
      to: `/a/${item.attempt.id}`,
    });
}

type About = { body?: string; tag: string; to: string };

/** Shows one notice, if the browser may. One with the same tag takes the place of the last. */
export async function notice(title: string, { body, tag, to }: About) {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  const options = { body, tag, icon: "/icon-192.png", data: { to } };
  const worker = await navigator.serviceWorker?.getRegistration();
  if (worker?.active) return worker.showNotification(title, options);
  const shown = new Notification(title, options);
  shown.onclick = () => {
    window.focus();
    history.pushState(null, "", to);
    shown.close();
  };
}

let waiting: InboxItem[] = [];
let saidAt = 0;

function sayAloud(news: readonly InboxItem[]) {
  const isWaiting = waiting.length > 0;
  waiting.push(...news);
  if (isWaiting) return;
  setTimeout(
    () => {
      announce(sentenceOfAll(waiting));
      waiting = [];
      saidAt = Date.now();
    },
    Math.max(0, saidAt + ANNOUNCE_EVERY - Date.now()),
  );
}
