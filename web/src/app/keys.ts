// From a key to an action. A component says which actions it can do now with `useActions`; the most recently mounted
// one that can do an action is asked. Single keys are left alone while the person types.

import { useEffect, useRef } from "react";
import { ACTIONS, type ActionId, actionOf, type Scope } from "./actions";
import { preferences } from "./preferences";
import { isInOwnBox } from "./scroll-box";

type Handlers = Partial<Record<ActionId, (() => void) | undefined>>;
type Layer = { scope: Scope; handlers: () => Handlers };

const layers: Layer[] = [];
const CHORD_WAIT = 1000;
/** The more special scope is asked first when two actions have the same key. */
const ORDER: readonly Scope[] = ["changes", "attempt", "inbox", "board", "everywhere"];

/** Offers actions while the component is there. A handler that is undefined is not offered. */
export function useActions(scope: Scope, handlers: Handlers, isActive = true) {
  const newest = useRef(handlers);
  newest.current = handlers;
  useEffect(() => {
    if (!isActive) return;
    const layer = { scope, handlers: () => newest.current };
    layers.push(layer);
    return () => void layers.splice(layers.indexOf(layer), 1);
  }, [scope, isActive]);
}

/** What can be done now, the most special first. */
export function offered(): Array<{ id: ActionId; run: () => void }> {
  const found = new Map<ActionId, () => void>();
  for (const scope of ORDER) {
    for (const layer of [...layers].reverse()) {
      if (layer.scope !== scope) continue;
      for (const [id, run] of Object.entries(layer.handlers())) {
        if (run && !found.has(id as ActionId)) found.set(id as ActionId, run);
      }
    }
  }
  return [...found].map(([id, run]) => ({ id, run }));
}

export function run(id: ActionId) {
  offered()
    .find((action) => action.id === id)
    ?.run();
}

/** Does an action as soon as the page that is opening offers it; gives up when it does not. */
export function runSoon(id: ActionId, patience = 3000) {
  const until = performance.now() + patience;
  const look = () => {
    if (offered().some((action) => action.id === id)) run(id);
    else if (performance.now() < until) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** A key event as the table writes it: `Mod+k`, `Shift+h`, `?`, `ArrowUp`. */
export function chordOf(event: KeyboardEvent): string {
  const isLetter = event.key.length === 1 && event.key.toLowerCase() !== event.key.toUpperCase();
  const key = isLetter ? event.key.toLowerCase() : event.key === " " ? "Space" : event.key;
  const parts: string[] = [];
  if (isMac ? event.metaKey : event.ctrlKey) parts.push("Mod");
  if (isMac ? event.ctrlKey : event.metaKey) parts.push("Meta");
  if (event.altKey) parts.push("Alt");
  // For a sign such as `?` the shift is already in the key.
  if (event.shiftKey && (isLetter || event.key.length > 1)) parts.push("Shift");
  return [...parts, key].join("+");
}

const isTypedInto = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches("textarea, select, input:not([type=checkbox]):not([type=radio]):not([type=button])"));

/** Listens to the whole page; called once, by `main.ts`. */
export function listenToKeys() {
  let begun: string | null = null;
  let timer: number | undefined;
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    // While a menu is open only the menu hears keys.
    if (document.querySelector("[role=menu]")) return;
    const isTyping = isTypedInto(event.target);
    const dialog = document.querySelector("dialog[open]");
    const chord = chordOf(event);
    const whole = begun ? `${begun} ${chord}` : chord;
    begun = null;
    clearTimeout(timer);
    const isPlain = !/^(Mod|Meta|Alt)\+/.test(whole);
    if (isPlain && !isTyping && !preferences().singleKeys) return;
    if (isOnControl(event, whole)) return;
    for (const { id, run } of offered()) {
      const { keys, whileTyping } = actionOf(id);
      if ((isTyping || dialog) && !whileTyping) continue;
      if (keys.includes(whole)) {
        event.preventDefault();
        run();
        return;
      }
    }
    if (
      !isTyping &&
      !dialog &&
      Object.values(ACTIONS).some((action) => action.keys.some((key) => key.startsWith(`${chord} `)))
    ) {
      begun = chord;
      timer = window.setTimeout(() => (begun = null), CHORD_WAIT);
    }
  });
}

// Enter, the space bar and the arrows belong to the button, menu or tab that has the focus; Home and End also to what
// scrolls there.
function isOnControl(event: KeyboardEvent, chord: string) {
  if (!(event.target instanceof HTMLElement)) return false;
  if (chord === "Enter")
    return event.target.matches("a[href], button, summary, [role=button], [role=menuitem]");
  if (chord === "Space")
    return event.target.matches("button, summary, input, [role=button], [role=menuitem], [role=tab]");
  if (chord.startsWith("Arrow") || chord === "Home" || chord === "End")
    return (
      event.target.closest("[role=menu], [role=tablist], [role=radiogroup], [role=tree], [role=listbox]") !==
        null ||
      (!chord.startsWith("Arrow") && isInOwnBox(event.target))
    );
  return false;
}

/** A chord as people write it. */
export const shown = (chord: string) =>
  chord
    .replace("Mod+", isMac ? "⌘" : "Ctrl+")
    .replace("Alt+", isMac ? "⌥" : "Alt+")
    .replace("Shift+", "⇧")
    .replace(/Arrow(\w+)/, (_, way: string) => ({ Up: "↑", Down: "↓", Left: "←", Right: "→" })[way] ?? way);
