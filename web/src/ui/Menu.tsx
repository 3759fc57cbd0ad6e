// A menu that opens beside its button or where the user pointed. Arrow keys move, letters jump, Esc closes. It keeps the
// focus while the page behind it changes.

import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { Button } from "./Button";
import { isTouched, useHold } from "./hold";
import { Icon, type IconName } from "./Icon";
import styles from "./Menu.module.css";

type Choice = {
  words: string;
  icon?: IconName;
  hint?: string;
  run: () => void;
  /** Why it cannot be done now; shown under the words. */
  disabled?: string | false | null;
  isDanger?: boolean;
  /** For a choice among several. */
  isChosen?: boolean;
  /** A finger has to hold it. */
  isHeld?: boolean;
  /** A further line in grey. */
  about?: ReactNode;
};

export type MenuItem = Choice | "line" | { heading: string };

export type Place = { x: number; y: number; width?: number; height?: number };

/** Letters that come one after the other within so many milliseconds are one word. */
const TYPING = 700;

type Props = { label: string; items: readonly MenuItem[]; at: Place; onClose: () => void };

export function Menu({ label, items, at, onClose }: Props) {
  const menu = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<{ left: number; top: number } | null>(null);
  const [shift, setShift] = useState({ x: 0, y: 0 });
  useLayoutEffect(() => {
    const box = menu.current?.getBoundingClientRect();
    if (!box) return;
    const below = at.y + (at.height ?? 0) + 4;
    const top = below + box.height > innerHeight - 8 ? Math.max(8, at.y - box.height - 4) : below;
    const left = Math.max(8, Math.min(at.x, innerWidth - box.width - 8));
    setPlace({ left, top });
  }, [at]);
  const isPlaced = place !== null;
  // The page behind the menu is drawn again at any time, with a new function each time.
  const close = useRef(onClose);
  useLayoutEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    const before = document.activeElement;
    const outside = (event: PointerEvent) => {
      if (!menu.current?.contains(event.target as Node)) close.current();
    };
    // The menu goes along with what it belongs to, and closes when that is out of sight.
    const anchor = before && before !== document.body ? before : null;
    const from = anchor?.getBoundingClientRect();
    const moved = (event: Event) => {
      if (!anchor || !from || !(event.target instanceof Node) || !event.target.contains(anchor)) return;
      const now = anchor.getBoundingClientRect();
      if (now.bottom < 0 || now.top > innerHeight) close.current();
      else setShift({ x: now.left - from.left, y: now.top - from.top });
    };
    const resized = () => close.current();
    addEventListener("pointerdown", outside, true);
    addEventListener("scroll", moved, true);
    addEventListener("resize", resized);
    return () => {
      removeEventListener("pointerdown", outside, true);
      removeEventListener("scroll", moved, true);
      removeEventListener("resize", resized);
      if (before instanceof HTMLElement && before.isConnected && !document.activeElement?.closest("dialog"))
        before.focus();
    };
  }, []);
  // What cannot be seen yet cannot take the focus.
  useEffect(() => {
    if (!isPlaced) return;
    const first = menu.current?.querySelector<HTMLElement>("[aria-checked=true]") ?? choices(menu.current)[0];
    first?.focus();
  }, [isPlaced]);
  // An item that is gone takes the focus with it, and keys would mean what they mean on the page.
  useLayoutEffect(() => {
    if (isPlaced && document.activeElement === document.body) choices(menu.current)[0]?.focus();
  });
  const typed = useRef({ letters: "", at: 0 });

  /** The next item that begins with the letters that were typed in one go. */
  const find = (all: readonly HTMLElement[], at: number, letter: string) => {
    const isGoingOn = Date.now() - typed.current.at < TYPING;
    const key = letter.toLowerCase();
    const search = (letters: string) => {
      typed.current = { letters, at: Date.now() };
      // The first letter looks for another item, the ones after it may mean the same.
      const from = letters.length > 1 ? at : at + 1;
      const order = all.map((_, step) => (Math.max(0, from) + step) % all.length);
      return order.find((index) => all[index]?.innerText.trim().toLowerCase().startsWith(letters)) ?? -1;
    };
    const found = isGoingOn ? search(typed.current.letters + key) : -1;
    return found >= 0 ? found : search(key);
  };

  const move = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const all = choices(menu.current);
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to =
      event.key === "ArrowDown"
        ? (at + 1) % all.length
        : event.key === "ArrowUp"
          ? (at - 1 + all.length) % all.length
          : event.key === "Home"
            ? 0
            : event.key === "End"
              ? all.length - 1
              : event.key.length === 1 && event.key !== " "
                ? find(all, at, event.key)
                : -1;
    if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      event.stopPropagation();
      onClose();
    } else if (to >= 0) {
      event.preventDefault();
      event.stopPropagation();
      all[to]?.focus();
    }
  };

  return createPortal(
    <div
      ref={menu}
      className={styles.menu}
      role="menu"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={move}
      // Measured where it has all the width there is.
      style={
        place
          ? { left: place.left + shift.x, top: place.top + shift.y }
          : { left: 0, top: 0, visibility: "hidden" }
      }
    >
      {items.map((item, index) =>
        item === "line" ? (
          <hr key={index} className={styles.line} />
        ) : "heading" in item ? (
          <div key={item.heading} className={styles.heading} role="presentation">
            {item.heading}
          </div>
        ) : (
          <Item key={item.words} item={item} onClose={onClose} />
        ),
      )}
    </div>,
    // In the open dialog, if there is one: what lies outside of it cannot be reached.
    document.querySelector("dialog[open]") ?? document.body,
  );
}

function Item({ item, onClose }: { item: Choice; onClose: () => void }) {
  const run = () => {
    if (item.disabled) return;
    onClose();
    item.run();
  };
  const { isHeld, handlers } = useHold(run);
  const about = item.disabled || item.about || (item.isHeld && isTouched() && "Hold it.");
  return (
    <button
      {...(item.isHeld ? handlers : { onClick: run })}
      type="button"
      role={item.isChosen === undefined ? "menuitem" : "menuitemradio"}
      aria-checked={item.isChosen}
      aria-disabled={item.disabled ? true : undefined}
      tabIndex={-1}
      className={styles.item}
      data-danger={item.isDanger || undefined}
      data-held={isHeld || undefined}
    >
      {item.icon ? (
        <Icon name={item.icon} size={14} />
      ) : item.isChosen ? (
        <Icon name="done" size={14} />
      ) : (
        <span className={styles.gap} />
      )}
      <span className={styles.words}>
        {item.words}
        {about && <small>{about}</small>}
      </span>
      {item.hint && <kbd aria-hidden="true">{item.hint}</kbd>}
    </button>
  );
}

const choices = (menu: HTMLElement | null) => [...(menu?.querySelectorAll<HTMLElement>("button") ?? [])];

type MenuButtonProps = {
  /** The accessible name, when the button's words are not enough. */
  label: string;
  items: () => readonly MenuItem[];
  icon?: IconName;
  kind?: "plain" | "primary" | "quiet";
  size?: "normal" | "small";
  children?: ReactNode;
};

/** A button that opens a menu. */
export function MenuButton({ label, items, icon, kind = "plain", size, children }: MenuButtonProps) {
  const [at, setAt] = useState<Place | null>(null);
  return (
    <>
      <Button
        kind={kind}
        size={size}
        icon={icon}
        label={label}
        aria-haspopup="menu"
        aria-expanded={at !== null}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          setAt({ x: box.left, y: box.top, width: box.width, height: box.height });
        }}
      >
        {children}
        {children && <Icon name="down" size={12} />}
      </Button>
      {at && <Menu label={label} items={items()} at={at} onClose={() => setAt(null)} />}
    </>
  );
}
