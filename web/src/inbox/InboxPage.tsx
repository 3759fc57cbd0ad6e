// What needs the person, ranked, with the chosen thing beside it. Answering or putting away moves on to the next.

import { useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { begin, useWorld } from "../api/world";
import { runSoon, shown, useActions } from "../app/keys";
import { inboxOf } from "../facts/inbox";
import { Head } from "../ui/Head";
import { Menu, type MenuItem, type Place } from "../ui/Menu";
import { Empty, Failed, Loading } from "../ui/Nothing";
import { counted } from "../ui/numbers";
import { putAway } from "./acts";
import { useAnswerHere } from "./answer";
import styles from "./Inbox.module.css";
import { latersAt } from "./later";
import { Preview } from "./Preview";
import { Row } from "./Row";

export function InboxPage() {
  const [, go] = useLocation();
  const items = useWorld(inboxOf);
  const isKnown = useWorld((world) => world.isKnown);
  const problem = useWorld((world) => world.problem);
  const running = useWorld((world) => [...world.attempts.values()].filter(isAtWork).length);
  const [chosen, choose] = useChosen(items.map((item) => item.id));
  const item = items.find(({ id }) => id === chosen) ?? null;
  const [later, setLater] = useState<Place | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const answering = useAnswerHere(item?.ask ?? null);
  const isPermission = item?.ask?.kind === "permission";

  const step = (by: number) => {
    const at = items.findIndex(({ id }) => id === chosen);
    const next = items[Math.min(items.length - 1, Math.max(0, at + by))];
    if (next) choose(next.id, list.current);
  };
  const open = item ? () => go(`/a/${item.attempt.id}`) : undefined;
  useActions("inbox", {
    inboxDown: items.length > 0 ? () => step(1) : undefined,
    inboxUp: items.length > 0 ? () => step(-1) : undefined,
    inboxOpen: open,
    inboxAllow: isPermission ? () => answering.answer(true) : undefined,
    inboxDeny: isPermission ? () => answering.answer(false) : undefined,
    inboxDismiss: item ? () => void putAway(item, null) : undefined,
    inboxLater: item ? () => setLater(placeOf(list.current)) : undefined,
    inboxReply: item
      ? () => {
          go(`/a/${item.attempt.id}`);
          runSoon("reply");
        }
      : undefined,
  });

  if (!isKnown)
    return (
      <>
        <Head title="Inbox" />
        {problem ? (
          <Failed what="The inbox is" error={problem} again={() => void begin()} />
        ) : (
          <Loading what="the inbox" />
        )}
      </>
    );
  if (items.length === 0)
    return (
      <>
        <Head title="Inbox" />
        <Empty>
          Nothing needs you.{" "}
          {running > 0 && `${counted(running, "agent")} ${running === 1 ? "is" : "are"} working.`}
        </Empty>
      </>
    );
  return (
    <>
      <Head title={`Inbox ${items.length}`}>
        <p className={styles.keys} aria-hidden="true">
          <kbd>j</kbd>
          <kbd>k</kbd> move <kbd>Enter</kbd> open <kbd>a</kbd>
          <kbd>d</kbd> answer <kbd>e</kbd> dismiss <kbd>{shown("Shift+z")}</kbd> later
        </p>
      </Head>
      <div className={styles.inbox}>
        <ul className={styles.list} aria-label="Inbox" ref={list}>
          {items.map((it) => (
            <Row
              key={it.id}
              item={it}
              isChosen={it.id === chosen}
              answering={it.id === chosen ? answering : undefined}
              onChoose={() => choose(it.id, null)}
              onDismiss={() => void putAway(it, null)}
            />
          ))}
        </ul>
        {item && (
          <Preview
            key={item.id}
            item={item}
            answering={answering}
            onDismiss={() => void putAway(item, null)}
            laters={() => laters((until) => void putAway(item, until))}
          />
        )}
      </div>
      {later && item && (
        <Menu
          label="Later"
          at={later}
          items={laters((until) => void putAway(item, until))}
          onClose={() => setLater(null)}
        />
      )}
    </>
  );
}

const isAtWork = (attempt: { state: string; open_asks: number }) =>
  attempt.state === "running" && attempt.open_asks === 0;

const laters = (choose: (until: Date | null) => void): MenuItem[] =>
  latersAt(new Date()).map(({ words, until }) => ({ words, run: () => choose(until) }));

function placeOf(list: HTMLElement | null): Place {
  const box = list?.querySelector("[aria-current]")?.getBoundingClientRect();
  return box ? { x: box.left + 24, y: box.top, height: box.height } : { x: 24, y: 48 };
}

/** Which row is chosen. When it leaves, the one that comes into its place is, and the focus goes with it. */
function useChosen(ids: readonly string[]) {
  const [chosen, setChosen] = useState<string | null>(ids[0] ?? null);
  const place = useRef(0);
  const at = ids.indexOf(chosen ?? "");
  if (at >= 0) place.current = at;
  const now = at >= 0 ? chosen : (ids[Math.min(place.current, ids.length - 1)] ?? null);
  useEffect(() => {
    if (now !== chosen) setChosen(now);
  }, [now, chosen]);
  const choose = (id: string, list: HTMLElement | null) => {
    setChosen(id);
    // The focus is real, so that a screen reader says the row.
    if (list)
      requestAnimationFrame(() =>
        list.querySelector<HTMLElement>("[aria-current] a")?.focus({ preventScroll: false }),
      );
  };
  return [now, choose] as const;
}
