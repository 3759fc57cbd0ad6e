// The conversation of an attempt: a virtual list over a window of its entries, which stays at the end while the person
// is there and stays put while they read elsewhere.

import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import type { TaskAttempt } from "../../api/types";
import { useActions } from "../../app/keys";
import { Button } from "../../ui/Button";
import { Empty, Failed, Loading } from "../../ui/Nothing";
import { compact } from "../../ui/numbers";
import { Place } from "../../ui/place";
import styles from "./Conversation.module.css";
import { EntryRow } from "./Entry";
import { Find } from "./Find";
import { Folds, FoldsHere } from "./folds";
import { useFollowing } from "./follow";
import { openingPlace, remember } from "./opening";
import { isShownIn, type Rows, rowNear, rowOf } from "./rows";
import { Scrollbar } from "./Scrollbar";
import type { TurnActs } from "./Turn";
import type { Transcript } from "./transcript";
import { keyAtPlace } from "./whole";

/** What others on the page may ask of the list. */
export type ConversationHandle = { show(key: string): void; follow(): void };

type Props = {
  attempt: TaskAttempt;
  transcript: Transcript;
  rows: Rows;
  acts: TurnActs;
  /** An entry to show first, from the address. */
  entry: string | null;
  hasAsk: boolean;
  isRunning: boolean;
  handle: React.RefObject<ConversationHandle | null>;
};

/** An entry that is to be shown, and where on the screen. */
type Wanted = { key: string; align: "center" | "start" };

/** How near the top or the bottom of the window the next page is asked for. */
const AHEAD = 1500;

export function Conversation({
  attempt,
  transcript,
  rows: all,
  acts,
  entry,
  hasAsk,
  isRunning,
  handle,
}: Props) {
  const { rows, marks } = all;
  const { hasOlder, hasNewer, isKnown, problem, grew, arrived, entries, counts } = useSyncExternalStore(
    transcript.watch,
    transcript.now,
  );
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const folds = useMemo(() => new Folds(), []);
  const [marked, setMarked] = useState<string | null>(entry);
  const [isFinding, setFinding] = useState(false);
  const isEndHere = useCallback(() => !transcript.now().hasNewer, [transcript]);
  const { isFollowing, now: following, follow, leave } = useFollowing(box, true, isEndHere);
  const [leftAt, setLeftAt] = useState(0);
  // What is to be shown as soon as it is there, and which of these has been answered.
  const wanted = useRef<Wanted | null>(null);
  const [answered, setAnswered] = useState<Wanted | null>(null);
  const place = useMemo(() => new Place(), []);
  transcript.isAtEnd = isFollowing;

  // What was there when the person left the end is not new.
  const unread = isFollowing ? 0 : arrived - leftAt;
  useEffect(() => {
    if (isFollowing) setLeftAt(arrived);
  }, [isFollowing, arrived]);

  // Directly, not by the list, which would still be on its way when the person has turned elsewhere.
  const pin = useCallback(() => {
    if (!following.current || wanted.current || !isEndHere()) return;
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [following, isEndHere]);
  const toEnd = useCallback(() => {
    wanted.current = null;
    follow();
    // An end that does not come is not followed.
    void transcript.end(toEnd).then((outcome) => outcome === "failed" && leave());
    pin();
  }, [follow, leave, transcript, pin]);

  /** Keeps in mind which entry is at the top. */
  const reached = useCallback(
    (key: string) => {
      remember(attempt.id, following.current ? null : key);
      place.go(key);
    },
    [attempt.id, following, place],
  );
  const showRow = useCallback(
    (at: number, { key, align }: Wanted) => {
      list.current?.scrollToIndex(at, { align });
      // No scroll tells it when other entries come to where the list is already, as those of the next window do.
      reached(key);
    },
    [reached],
  );

  const fetchPlace = useCallback(
    (asked: Wanted) => {
      leave();
      wanted.current = asked;
      setAnswered(null);
      void transcript
        .open(asked.key, () => fetchPlace(asked))
        .then((outcome) => {
          if (outcome === "taken") setAnswered(asked);
          else if (wanted.current === asked) wanted.current = null;
        });
    },
    [leave, transcript],
  );
  const bring = useCallback(
    (asked: Wanted) => {
      const at = rowOf(rowsNow.current, asked.key);
      if (at < 0) return fetchPlace(asked);
      leave();
      wanted.current = null;
      transcript.stay();
      showRow(at, asked);
    },
    [leave, transcript, fetchPlace, showRow],
  );
  const show = useCallback(
    (key: string) => {
      setMarked(key);
      bring({ key, align: "center" });
    },
    [bring],
  );
  /** Goes to a place in the whole conversation, which may be far from the window. */
  const go = (to: number) => {
    const key = counts && keyAtPlace(counts, to);
    if (key) bring({ key, align: "start" });
    else toEnd();
  };
  const rowsNow = useRef(rows);
  rowsNow.current = rows;
  handle.current = { show, follow: toEnd };

  // Where to begin, once, when there is something to show.
  const isPlaced = useRef(false);
  useLayoutEffect(() => {
    if (isPlaced.current || !isKnown || rows.length === 0) return;
    isPlaced.current = true;
    const opening = openingPlace(attempt, rows, entry, hasAsk);
    if (opening === "end" && !hasNewer) return;
    leave();
    // A window without the end is around an entry, which may have no row.
    const at = opening === "end" ? Math.max(0, rowNear(rows, entry ?? "")) : opening.row;
    const key = rows[at]?.key;
    if (key) showRow(at, { key, align: opening === "end" ? "start" : opening.align });
  }, [isKnown, rows, hasNewer, attempt, entry, hasAsk, leave, showRow]);

  // In the same frame as the content.
  useLayoutEffect(() => {
    if (wanted.current) {
      const { key } = wanted.current;
      const isAnswered = answered === wanted.current;
      const at = isAnswered ? rowNear(rows, key) : rowOf(rows, key);
      if (at >= 0) showRow(at, wanted.current);
      // Not everything comes.
      if (at >= 0 || isAnswered) wanted.current = null;
    } else if (isFollowing) pin();
  }, [rows, isFollowing, pin, answered, showRow]);

  // What is too much goes in a frame of its own.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is looked at again whenever there is more
  useEffect(() => {
    const frame = requestAnimationFrame(() => transcript.trim());
    return () => cancelAnimationFrame(frame);
  }, [entries.length, transcript]);

  const scrolled = (offset: number) => {
    const view = list.current;
    if (!view) return;
    if (hasOlder && offset < AHEAD) void transcript.older();
    if (hasNewer && view.scrollSize - offset - view.viewportSize < AHEAD) void transcript.newer();
    const row = rows[view.findItemIndex(offset)];
    if (row) reached(row.key);
  };

  // What is here whole has the browser's own scroll bar.
  const isPart = hasOlder || hasNewer;
  const first = rows[0];
  const goMark = (step: 1 | -1) => () => {
    const at = marked ? marks.indexOf(marked) : step === 1 ? -1 : marks.length;
    const key = marks[(at + step + marks.length) % marks.length];
    if (key) show(key);
  };
  useActions("attempt", {
    foldTools: () => folds.toggleAll(),
    nextMark: marks.length > 0 ? goMark(1) : undefined,
    previousMark: marks.length > 0 ? goMark(-1) : undefined,
    find: () => setFinding(true),
    followLog: toEnd,
    firstEntry: isPart
      ? counts
        ? () => go(0)
        : undefined
      : first && (() => bring({ key: first.key, align: "start" })),
  });

  return (
    <FoldsHere value={folds}>
      <div className={styles.conversation}>
        {isKnown && problem && <Failed {...problem} />}
        {isFinding && <Find attempt={attempt.id} onShow={show} onClose={() => setFinding(false)} />}
        <div className={styles.view}>
          <div
            ref={box}
            id="log"
            className={styles.log}
            data-windowed
            data-part={(isPart && counts !== null) || undefined}
            role="log"
            aria-label="Conversation"
            aria-live="off"
            data-following={isFollowing}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
            tabIndex={0}
          >
            {!isKnown ? (
              problem ? (
                <Failed {...problem} />
              ) : (
                <Loading what="the conversation" />
              )
            ) : rows.length === 0 ? (
              <Empty>{isRunning ? "The agent has not said anything yet." : "Nothing was said."}</Empty>
            ) : (
              <>
                {hasOlder && <p className={styles.older}>{!problem && "Loading earlier messages…"}</p>}
                <Virtualizer
                  ref={list}
                  data={rows}
                  scrollRef={box}
                  shift={grew === "start"}
                  onScroll={scrolled}
                  bufferSize={200}
                  startMargin={hasOlder ? 32 : 0}
                  onResize={pin}
                >
                  {(row) => (
                    <EntryRow
                      key={row.key}
                      row={row}
                      acts={acts}
                      isRunning={isRunning}
                      marked={marked !== null && isShownIn(row, marked) ? marked : null}
                    />
                  )}
                </Virtualizer>
              </>
            )}
          </div>
          {isPart && counts && (
            <Scrollbar counts={counts} place={place} isAtEnd={isFollowing && !hasNewer} onGo={go} />
          )}
          {!isFollowing && (
            <div className={styles.pill}>
              <Button size="small" icon="down" onClick={toEnd}>
                {unread > 0 ? `${compact(unread)} new` : "Newest"}
              </Button>
            </div>
          )}
        </div>
      </div>
    </FoldsHere>
  );
}
