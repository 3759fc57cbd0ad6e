// The line between conversation and right pane: dragged, or moved with the arrow keys.

import { prefer, usePreferences } from "../app/preferences";
import styles from "./Splitter.module.css";

const LEAST = 0.25;
const MOST = 0.65;
const within = (width: number) => Math.min(MOST, Math.max(LEAST, width));

export function Splitter() {
  const { paneWidth } = usePreferences();
  return (
    <div
      className={styles.splitter}
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the right pane"
      aria-valuenow={Math.round(paneWidth * 100)}
      aria-valuemin={LEAST * 100}
      aria-valuemax={MOST * 100}
      tabIndex={0}
      onKeyDown={(event) => {
        const step = { ArrowLeft: 0.02, ArrowRight: -0.02 }[event.key];
        if (!step) return;
        event.preventDefault();
        prefer({ paneWidth: within(paneWidth + step) });
      }}
      onPointerDown={(event) => {
        const line = event.currentTarget;
        const panes = line.parentElement?.getBoundingClientRect();
        if (!panes) return;
        line.setPointerCapture(event.pointerId);
        const move = (event: PointerEvent) =>
          prefer({ paneWidth: within((panes.right - event.clientX) / panes.width) });
        line.addEventListener("pointermove", move);
        line.addEventListener("lostpointercapture", () => line.removeEventListener("pointermove", move), {
          once: true,
        });
      }}
    />
  );
}
