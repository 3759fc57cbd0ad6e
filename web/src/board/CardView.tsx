// One card: what state a task is in, why and since when, and the one next thing to do about it.

import { type MouseEvent, memo, type PointerEvent, useEffect, useRef } from "react";
import { navigate } from "wouter/use-browser-location";
import { useWorld } from "../api/world";
import { type Acting, forgetProblem, useActing } from "../app/acting";
import { LOOKS } from "../facts/state";
import { Button } from "../ui/Button";
import { StateMark } from "../ui/StateMark";
import { sentence } from "../ui/sentence";
import { giveFocus, LOOK, type Look, lookOf, setActive, toggleSelected, useActive } from "./active";
import { useBoard } from "./BoardContext";
import styles from "./Card.module.css";
import { type Card, cardOf, sameCard } from "./cards";
import { useDraggable } from "./dragging";
import { hrefOf, Meta } from "./Meta";
import { NextAct } from "./NextAct";

type Props = {
  id: string;
  /** It is the one card of its column that Tab reaches. */
  isTabStop: boolean;
  index: number;
  of: number;
};

export const CardView = memo(function CardView({ id, ...rest }: Props) {
  const card = useWorld((world) => cardOf(world, id), sameCard);
  const acting = useActing(id);
  return card ? <Drawn card={card} acting={acting} {...rest} /> : null;
});

function Drawn({ card, acting, isTabStop, index, of }: Omit<Props, "id"> & { card: Card; acting: Acting }) {
  const { task, facts } = card;
  const { id, title } = task;
  const { menu } = useBoard();
  const element = useRef<HTMLDivElement>(null);
  const link = useRef<HTMLAnchorElement>(null);
  const about = `about-${id}`;
  // One subscription for all four: a card costs as little as it can while the list scrolls.
  const look = useActive((active) => lookOf(active, id));
  const has = (one: Look) => (look & one) !== 0;
  const wantsFocus = has(LOOK.wantsFocus);
  const isSelected = has(LOOK.selected);
  useDraggable(element, id);
  const press = useLongPress(id, (x, y) => menu(id, { x, y }));
  useEffect(() => {
    if (wantsFocus) giveFocus(id, link.current);
  }, [wantsFocus, id]);

  const isUnseen = facts.state === "review" && facts.attempt !== null && !isSeen(facts.attempt, facts.since);
  return (
    <div className={styles.slot}>
      <div
        {...press}
        ref={element}
        role="listitem"
        aria-setsize={of}
        aria-posinset={index + 1}
        className={styles.card}
        data-task={id}
        data-state={facts.state}
        data-tone={LOOKS[facts.state].tone}
        data-markless={LOOKS[facts.state].icon === null || undefined}
        data-selected={isSelected || undefined}
        data-dragged={has(LOOK.dragged) || undefined}
        onFocus={() => setActive(id)}
        onContextMenu={(event) => {
          event.preventDefault();
          menu(id, { x: event.clientX, y: event.clientY });
        }}
      >
        <StateMark state={facts.state} />
        <a
          ref={link}
          href={hrefOf(card)}
          className={styles.title}
          data-unseen={isUnseen || undefined}
          draggable={false}
          tabIndex={isTabStop ? 0 : -1}
          aria-describedby={about}
          onClick={(event) => follow(event, id)}
        >
          {title}
        </a>
        <div className={styles.corner}>
          <Button
            kind="quiet"
            size="small"
            icon="more"
            label={`Actions for ${title}`}
            aria-haspopup="menu"
            tabIndex={isTabStop ? 0 : -1}
            onClick={(event) => {
              const box = event.currentTarget.getBoundingClientRect();
              menu(id, { x: box.left, y: box.top, width: box.width, height: box.height });
            }}
          />
        </div>
        <div id={about} className={styles.about}>
          <span className="unseen">
            {isSelected ? "selected, " : ""}
            {LOOKS[facts.state].words}
          </span>
          {facts.reason && (
            <p className={styles.reason} title={facts.reason}>
              {sentence(facts.reason)}
            </p>
          )}
          <Meta card={card} />
        </div>
        <NextAct card={card} acting={acting} isTabStop={isTabStop} />
        {acting.problem && (
          <p className={styles.problem} role="alert">
            <span>{acting.problem}</span>
            <Button size="small" kind="quiet" icon="close" label="Close" onClick={() => forgetProblem(id)} />
          </p>
        )}
      </div>
    </div>
  );
}

/** A plain click goes there, with Shift the card is selected; anything else is the browser's business. */
function follow(event: MouseEvent<HTMLAnchorElement>, id: string) {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (event.shiftKey) toggleSelected(id);
  else navigate(event.currentTarget.pathname);
}

const isSeen = (attempt: { seen_at: string | null }, since: string) =>
  attempt.seen_at !== null && attempt.seen_at !== undefined && attempt.seen_at >= since;

const LONG = 500;

// A finger that rests on a card opens its menu; one that moves scrolls.
function useLongPress(id: string, open: (x: number, y: number) => void) {
  const timer = useRef<number | undefined>(undefined);
  const wasLong = useRef(false);
  const stop = () => clearTimeout(timer.current);
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    onPointerDown(event: PointerEvent) {
      wasLong.current = false;
      // Wherever on it the hand came down, this is the card to come back to.
      setActive(id);
      if (event.pointerType !== "touch") return;
      const { clientX, clientY } = event;
      stop();
      timer.current = window.setTimeout(() => {
        wasLong.current = true;
        open(clientX, clientY);
      }, LONG);
    },
    onPointerMove(event: PointerEvent) {
      if (Math.abs(event.movementX) + Math.abs(event.movementY) > 6) stop();
    },
    onPointerUp: stop,
    onPointerCancel: stop,
    onClickCapture(event: { preventDefault: () => void; stopPropagation: () => void }) {
      if (!wasLong.current) return;
      wasLong.current = false;
      event.preventDefault();
      event.stopPropagation();
    },
  };
}
