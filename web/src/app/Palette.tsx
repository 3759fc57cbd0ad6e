// The palette: type a few letters, and do or go there. What it offers is what the page could do when it was opened.

import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useWorld } from "../api/world";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";
import { offered, shown } from "./keys";
import styles from "./Palette.module.css";
import { type Place, placesFor } from "./places";

export function Palette({ onClose }: { onClose: () => void }) {
  const [, go] = useLocation();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const world = useWorld((world) => world);
  // Asked once: while the palette is open, the page behind it is not where the keys go.
  const [can] = useState(() => new Map(offered().map(({ id, run }) => [id, run])));
  const places = useMemo(() => placesFor(typed, [...can.keys()], world), [typed, can, world]);
  const now = Math.min(at, places.length - 1);
  const list = useId();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.children[now]?.scrollIntoView({ block: "nearest" });
  }, [now]);

  const take = (place: Place | undefined) => {
    if (!place) return;
    onClose();
    // After the palette has gone, so that the focus is where it was when the action is done.
    requestAnimationFrame(() => {
      if (place.to) go(place.to);
      else if (place.action) can.get(place.action)?.();
    });
  };
  const press = (event: KeyboardEvent) => {
    const to = {
      ArrowDown: (now + 1) % places.length,
      ArrowUp: (now - 1 + places.length) % places.length,
      PageDown: Math.min(now + 10, places.length - 1),
      PageUp: Math.max(now - 10, 0),
    }[event.key];
    if (to !== undefined && places.length > 0) {
      event.preventDefault();
      setAt(to);
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      take(places[now]);
    }
  };

  return (
    <Dialog title="Commands" bare onClose={onClose}>
      <div className={styles.palette}>
        <input
          className={styles.input}
          role="combobox"
          aria-label="Commands"
          aria-expanded={places.length > 0}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={places[now] ? `${list}-${now}` : undefined}
          placeholder="Do or go to…   > actions   # tasks   @ agents"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
        <div id={list} ref={box} role="listbox" aria-label="Commands" className={styles.list}>
          {places.map((place, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox.
            // biome-ignore lint/a11y/useFocusableInteractive: the combobox keeps the focus and names the option.
            <div
              key={place.id}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === now}
              className={styles.option}
              onPointerMove={() => index !== now && setAt(index)}
              onClick={() => take(place)}
            >
              <Icon name={place.icon} size={14} />
              <span className={styles.words}>{place.words}</span>
              {place.about && <small>{place.about}</small>}
              {place.keys[0] && <kbd aria-hidden="true">{shown(place.keys[0])}</kbd>}
            </div>
          ))}
        </div>
        {places.length === 0 && <p className={styles.none}>Nothing fits “{typed}”.</p>}
      </div>
    </Dialog>
  );
}
