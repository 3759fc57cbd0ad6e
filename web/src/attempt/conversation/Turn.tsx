// The head of a turn: its number, when, how long, what it cost and changed; and what the person said.

import { useContext, useState } from "react";
import { clock } from "../../facts/clock";
import { Button } from "../../ui/Button";
import { MenuButton, type MenuItem } from "../../ui/Menu";
import { counted, money } from "../../ui/numbers";
import { duration, Elapsed } from "../../ui/time";
import { useMessage } from "./message";
import { Pictures } from "./Pictures";
import type { Row } from "./rows";
import styles from "./Turn.module.css";
import { TurnsHere } from "./turns";

export type TurnActs = {
  restore(snapshot: string, words: string): void;
  /** Shows the changes between two snapshots; `to` null means as it is now. */
  showChanges(from: string, to: string | null): void;
  copyLink(key: string): void;
};

const FOLDED_AT = 3;

type Props = {
  row: Extract<Row, { kind: "turn" }>;
  acts: TurnActs;
  isRunning: boolean;
  /** What was asked for is among what the system said. */
  isNoiseWanted: boolean;
};

export function Turn({ row, acts, isRunning, isNoiseWanted }: Props) {
  const { number, placed, ordinal, noise } = row;
  const title = number === null ? "Turn" : `Turn ${number}`;
  const named = number === null ? "this turn" : `turn ${number}`;
  const facts = useContext(TurnsHere).factsOf(placed.run, ordinal);
  const [isOpen, setOpen] = useState(false);
  const [chosen, setNoisy] = useState<boolean | null>(null);
  const isNoisy = chosen ?? isNoiseWanted;
  const { text, pictures } = useMessage(placed.entry.content);
  const isLong = text.split("\n").length > FOLDED_AT || text.length > 300;
  const startedAt = placed.entry.timestamp ?? facts.startedAt;
  const { before, after } = facts;
  const items = (): MenuItem[] => [
    {
      words: "Restore files to before this turn",
      icon: "undo",
      disabled: !before
        ? "No snapshot is older than this turn."
        : isRunning
          ? "Not while the agent runs."
          : null,
      run: () => before && acts.restore(before.id, `before ${named}`),
    },
    {
      words: "Changes of this turn",
      icon: "file",
      disabled: ordinal === null && "Its beginning is not in what is shown.",
      run: () => acts.showChanges(before?.id ?? "start", after?.id ?? null),
    },
    { words: "Copy link", icon: "copy", run: () => acts.copyLink(placed.key) },
    ...(noise.length > 0
      ? [
          {
            words: isNoisy ? "Hide what the system said" : `Show what the system said (${noise.length})`,
            run: () => setNoisy(!isNoisy),
          },
        ]
      : []),
  ];
  return (
    <article className={styles.turn} aria-label={title}>
      <header className={styles.head}>
        <h2>{title}</h2>
        <span>
          {[
            startedAt && clock(startedAt),
            startedAt && facts.endedAt && lasted(startedAt, facts.endedAt),
            facts.costMicros && money(facts.costMicros),
            facts.files ? counted(facts.files, "file") : null,
          ]
            .filter(Boolean)
            .join(" · ")}
          {startedAt && !facts.endedAt && isRunning && (
            <>
              {" · "}
              <Elapsed since={startedAt} />
            </>
          )}
        </span>
        <MenuButton label={`Actions for ${named}`} icon="more" kind="quiet" size="small" items={items} />
      </header>
      {text && (
        <div className={styles.said} data-folded={(isLong && !isOpen) || undefined}>
          {text}
        </div>
      )}
      {isLong && (
        <Button size="small" kind="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : "Show all of it"}
        </Button>
      )}
      {pictures.length > 0 && <Pictures pictures={pictures} />}
      {isNoisy && (
        <ul className={styles.noise}>
          {noise.map(({ key, entry }) => (
            <li key={key}>{entry.content}</li>
          ))}
        </ul>
      )}
    </article>
  );
}

/** Nothing, when it was over at once. */
function lasted(from: string, to: string) {
  const time = Date.parse(to) - Date.parse(from);
  return time >= 1000 ? duration(time) : null;
}
