// The icons: each state has a silhouette of its own, so that colour never has to carry the meaning.

import styles from "./Icon.module.css";

const PATHS = {
  // States.
  running: "M8 1.75a6.25 6.25 0 1 0 6.25 6.25",
  question: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2c-.7.4-1.1.8-1.1 1.6M8 12.2v.1",
  hand: "M5 8V3.8a1 1 0 0 1 2 0V7m0-4a1 1 0 0 1 2 0v4m0-3a1 1 0 0 1 2 0v4.5c0 3-1.5 5-4 5-2 0-3-1-4-3L2.6 9a1 1 0 0 1 1.8-.8L5 9",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  hourglass: "M4 2h8M4 14h8M4.5 2c0 4 7 4 7 12M11.5 2c0 4-7 4-7 12",
  clock: "M8 1.75a6.25 6.25 0 1 1 0 12.5 6.25 6.25 0 0 1 0-12.5M8 4.5V8l2.5 1.5",
  failed: "M5.3 1.75h5.4l3.55 3.55v5.4l-3.55 3.55H5.3L1.75 10.7V5.3zM6 6l4 4M10 6l-4 4",
  stopped: "M3.5 3.5h9v9h-9z",
  review: "M2.5 5h11M2.5 8h11M2.5 11h7",
  conflict: "M8 2l6.5 11.5h-13zM8 6.5v3M8 11.5v.1",
  fork: "M4.5 2.5v11M4.5 9c4 0 7-1 7-4.5M3 2.5h3M10 4.5h3M3 13.5h3",
  done: "M2.5 8.5l3.5 3.5 7.5-8",
  gear: "M8 5.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5M8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4",
  dots: "M3 8h.01M8 8h.01M13 8h.01",
  unknown: "M8 1.75a6.25 6.25 0 1 1 0 12.5 6.25 6.25 0 0 1 0-12.5",
  // Things and acts.
  inbox: "M2 9l2-6h8l2 6v4H2zM2 9h3.5l1 2h3l1-2H14",
  board: "M2.5 2.5h3v11h-3zM6.5 2.5h3v7h-3zM10.5 2.5h3v9h-3z",
  folder: "M1.75 3.5h4l1.5 2h7v7.5H1.75z",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  left: "M10 4L6 8l4 4",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.5 10.5l3 3",
  play: "M4.5 2.5l8 5.5-8 5.5z",
  send: "M8 13V3M4 7l4-4 4 4",
  image: "M2 3h12v10H2zM2 11l3.5-3.5L9 11l2-2 3 3M10.5 6h.01",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  edit: "M2.5 13.5l.7-3 7.8-7.8 2.3 2.3-7.8 7.8z",
  trash: "M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.5 9h6l.5-9",
  external: "M9 2.5h4.5V7M13.5 2.5L7 9M11 9v4.5H2.5V5H7",
  comment: "M2 3h12v8H7l-3 2.5V11H2z",
  menu: "M2.5 4h11M2.5 8h11M2.5 12h11",
  terminal: "M2.5 4l4 4-4 4M8 12.5h5.5",
  file: "M3.5 1.75h6l3 3v9.5h-9zM9.5 1.75v3h3",
  think: "M8 2a4 4 0 0 1 2.5 7.2V11h-5V9.2A4 4 0 0 1 8 2M6 13.5h4",
  globe:
    "M8 1.75a6.25 6.25 0 1 1 0 12.5 6.25 6.25 0 0 1 0-12.5M1.75 8h12.5M8 1.75c4 4 4 8.5 0 12.5M8 1.75c-4 4-4 8.5 0 12.5",
  undo: "M3 6h6.5a3.5 3.5 0 0 1 0 7H6M3 6l3-3M3 6l3 3",
} as const;

export type IconName = keyof typeof PATHS;

type Props = {
  name: IconName;
  /** What it says; an icon beside its own word says nothing. */
  label?: string;
  size?: 12 | 14 | 16 | 20;
  className?: string;
};

export function Icon({ name, label, size = 16, className }: Props) {
  const about = label ? { role: "img", "aria-label": label } : { "aria-hidden": true };
  return (
    <svg
      {...about}
      className={`${styles.icon} ${name === "running" ? styles.turns : ""} ${className ?? ""}`}
      data-icon={name}
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {label && <title>{label}</title>}
      <path d={PATHS[name]} strokeDasharray={name === "unknown" ? "2 2.2" : undefined} />
    </svg>
  );
}
