// What a run printed, line by line, as it comes. Of a log without end the newest lines are kept.

import { live } from "../../api/live";
import type { LiveMessage, RawLogPiece } from "../../api/types";

export const MOST_LINES = 20_000;
const PACE = 100;

export type LogLine = { number: number; text: string; isError: boolean };
export type LogState = {
  readonly lines: readonly LogLine[];
  /** How many lines were let go of. */
  readonly dropped: number;
  readonly isOver: boolean;
  readonly problem: string | null;
};

/** Follows one run's log until it is closed. */
export class RawLog {
  private state: LogState = { lines: [], dropped: 0, isOver: false, problem: null };
  private readonly watchers = new Set<() => void>();
  private readonly coming: RawLogPiece[] = [];
  private timer: number | undefined;
  private readonly stop: () => void;

  constructor(run: string) {
    this.stop = live.follow(`log:${run}`, { message: (message) => this.hear(message) });
  }

  readonly watch = (changed: () => void) => {
    this.watchers.add(changed);
    return () => void this.watchers.delete(changed);
  };
  readonly now = () => this.state;

  close() {
    clearTimeout(this.timer);
    this.stop();
  }

  private hear(message: LiveMessage) {
    if ("error" in message) this.change({ problem: message.error });
    else if ("resync" in message) {
      this.coming.length = 0;
      this.change({ lines: [], dropped: 0 });
    } else {
      this.coming.push(...(message.value as RawLogPiece[]));
      if (message.finished) this.take(true);
      else this.timer ??= window.setTimeout(() => this.take(false), PACE);
    }
  }

  private take(isOver: boolean) {
    clearTimeout(this.timer);
    this.timer = undefined;
    const lines = joined(this.state.lines, this.coming.splice(0));
    const over = Math.max(0, lines.length - MOST_LINES);
    this.change({
      lines: over > 0 ? lines.slice(over) : lines,
      dropped: this.state.dropped + over,
      isOver: this.state.isOver || isOver,
    });
  }

  private change(change: Partial<LogState>) {
    this.state = { ...this.state, ...change };
    for (const changed of this.watchers) changed();
  }
}

/** Adds pieces to lines: a piece may end in the middle of a line, and the next one of the same stream goes on there. */
export function joined(lines: readonly LogLine[], pieces: readonly RawLogPiece[]): LogLine[] {
  const result = [...lines];
  let number = result.at(-1)?.number ?? 0;
  for (const { type, content } of pieces) {
    const isError = type === "STDERR";
    const parts = content.split("\n");
    parts.forEach((part, index) => {
      const last = result.at(-1);
      if (index === 0 && last && last.text.endsWith(OPEN) && last.isError === isError)
        result[result.length - 1] = {
          ...last,
          text: last.text.slice(0, -1) + part + (parts.length === 1 ? OPEN : ""),
        };
      else if (index < parts.length - 1 || part !== "") {
        number += 1;
        result.push({ number, isError, text: part + (index === parts.length - 1 ? OPEN : "") });
      }
    });
  }
  return result;
}

/** Marks a line whose end has not come yet; no program prints it. */
const OPEN = "\uE000";

export const shownLine = (line: LogLine) => (line.text.endsWith(OPEN) ? line.text.slice(0, -1) : line.text);
