// A window on what was said and done in an attempt: the newest entries, older ones when they are wanted, and what comes
// live. It never holds more than MOST entries, however long the conversation is.

import { get } from "../../api/client";
import { entriesOf, PAGE } from "../../api/entries";
import { live } from "../../api/live";
import type {
  ExecutionProcess,
  IndexedEntry,
  LiveMessage,
  NormalizedEntry,
  TaskAttemptEntries,
  TaskAttemptEntry,
} from "../../api/types";
import { type Counts, counted, countsOf, keyAt } from "./whole";

export const MOST = 1500;
/** How often what comes live is drawn, at most. */
const PACE = 50;

/** An entry and where it stands; `key` is its permalink. */
export type Placed = { key: string; run: string; index: number; entry: NormalizedEntry };

/** What did not come, why, and how it is asked for again. */
export type Missing = { what: string; error: Error; again: () => void };

/** What became of a question: its answer is shown, it did not come, or something else was asked for meanwhile. */
export type Outcome = "taken" | "failed" | "overtaken";

/** Something to ask for, and what to do with the answer. */
type Asked = Omit<Missing, "error"> & {
  path: string;
  /** False when the window was moved meanwhile: the answer would not fit into it. */
  isWanted: () => boolean;
  take: (answer: TaskAttemptEntries) => void;
};

export type Window = {
  readonly entries: readonly Placed[];
  /** There are earlier ones than the first. */
  readonly hasOlder: boolean;
  /** There are later ones than the last: the window was moved away from the end. */
  readonly hasNewer: boolean;
  /** False until the first answer has come. */
  readonly isKnown: boolean;
  readonly problem: Missing | null;
  /** Which end grew last: what grows above must not move what is read. */
  readonly grew: "start" | "end";
  /** Entries that came live and were not there before, since the beginning. */
  readonly arrived: number;
  /** How many each run has in all; null while nobody can tell. */
  readonly counts: Counts | null;
};

const EMPTY: Window = {
  entries: [],
  hasOlder: false,
  hasNewer: false,
  isKnown: false,
  problem: null,
  grew: "end",
  arrived: 0,
  counts: null,
};

/** The window of one attempt. It is made when the attempt is opened and closed with it. */
export class Transcript {
  private window = EMPTY;
  private readonly watchers = new Set<() => void>();
  /** Runs by the order in which they began. */
  private order: string[] = [];
  /** Runs whose entries are all in the answers of the server already. */
  private readonly settled = new Set<string>();
  private readonly followed = new Map<string, () => void>();
  private readonly coming: Array<{ run: string; batch: readonly IndexedEntry[] }> = [];
  private timer: number | undefined;
  private isBusy = false;
  /** How many answers are on their way. */
  private asked = 0;
  /** How often a place was asked for: of several the last one counts, in whatever order the answers come. */
  private openings = 0;
  /** What came live while an answer was on its way, which may be older than that. */
  private meanwhile: Array<{ run: string; batch: readonly IndexedEntry[] }> = [];
  /** What is shown was made anew, and that has not come yet. */
  private isOutdated = false;
  private isClosed = false;
  /** The person reads the end. Above it, what comes is not added when there is no room. */
  isAtEnd = true;

  constructor(private readonly attempt: string) {}

  readonly watch = (changed: () => void) => {
    this.watchers.add(changed);
    return () => void this.watchers.delete(changed);
  };
  readonly now = () => this.window;

  /** Shows the newest entries, or those around one. `again` is how they are asked for when they do not come. */
  open(around?: string, again: () => void = () => void this.open(around)): Promise<Outcome> {
    this.openings += 1;
    const opening = this.openings;
    return this.ask({
      path: entriesOf(this.attempt, around),
      what: around && this.window.isKnown ? "That place is" : "The conversation is",
      again,
      isWanted: () => this.openings === opening,
      take: (answer) => {
        this.isOutdated = false;
        for (const run of answer.runs) if (run.is_over) this.settled.add(run.id);
        this.order = answer.runs.map((run) => run.id);
        this.change({
          entries: answer.entries.map(placed),
          hasOlder: answer.has_more,
          hasNewer: answer.has_newer,
          isKnown: true,
          problem: null,
          grew: "end",
          counts: countsOf(answer.runs),
        });
        for (const run of answer.runs) this.followRun(run.id, run.after ?? undefined);
      },
    });
  }

  /** Follows the runs of an agent that still add something. Called with every new list of runs. */
  follow(runs: readonly ExecutionProcess[]) {
    if (!this.window.isKnown || this.isClosed) return;
    for (const { id, run_reason, dropped } of runs) {
      if (run_reason !== "codingagent" || dropped) continue;
      if (!this.order.includes(id)) this.order.push(id);
      this.followRun(id);
    }
  }

  /** Follows a run from where the window has it, or from its first entry. */
  private followRun(id: string, after?: number) {
    if (this.settled.has(id) || this.followed.has(id)) return;
    const message = (message: LiveMessage) => this.hear(id, message);
    this.followed.set(id, live.follow(`entries:${id}`, { message, after }));
  }

  /** Adds a page of earlier entries. */
  older() {
    const first = this.window.entries[0];
    if (!first || !this.window.hasOlder) return;
    return this.page({
      path: this.pagePath(`before=${first.key}`),
      what: "Earlier messages are",
      again: () => this.older(),
      isWanted: () => this.window.entries[0]?.key === first.key,
      take: (answer) => {
        const entries = [...answer.entries.map(placed), ...this.window.entries];
        this.change({ entries, hasOlder: answer.has_more, grew: "start" });
      },
    });
  }

  /** Adds a page of later entries, when the window is not at the end. */
  newer() {
    const last = this.window.entries.at(-1);
    if (!last || !this.window.hasNewer) return;
    return this.page({
      path: this.pagePath(`after=${last.key}`),
      what: "Later messages are",
      again: () => this.newer(),
      isWanted: () => this.window.entries.at(-1)?.key === last.key,
      take: (answer) => {
        const entries = [...this.window.entries, ...answer.entries.map(placed)];
        this.change({ entries, hasNewer: answer.has_newer, grew: "end" });
      },
    });
  }

  private pagePath(query: string) {
    return `/task-attempts/${this.attempt}/entries?${query}&limit=${PAGE}`;
  }

  /** Goes back to the newest entries. `again` is how that is asked for when they do not come. */
  async end(again?: () => void): Promise<Outcome> {
    this.isAtEnd = true;
    if (this.window.problem) this.change({ problem: null });
    const { hasNewer, isKnown } = this.window;
    if (hasNewer || !isKnown || this.isOutdated) return this.open(undefined, again);
    this.stay();
    return "taken";
  }

  /** Keeps the window where it is, though another place may be on its way. */
  stay() {
    if (this.window.isKnown && !this.isOutdated) this.openings += 1;
  }

  /** Lets go of what is too much, at the end that is not read. A step of its own, so that a list can keep its place. */
  trim() {
    const { entries } = this.window;
    if (entries.length <= MOST) return;
    if (this.isAtEnd && !this.window.hasNewer)
      this.change({ entries: entries.slice(-MOST + PAGE), hasOlder: true, grew: "start" });
    else if (this.window.grew === "start")
      this.change({ entries: entries.slice(0, MOST), hasNewer: true, grew: "end" });
    else this.change({ entries: entries.slice(-MOST), hasOlder: true, grew: "start" });
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    for (const stop of this.followed.values()) stop();
    this.followed.clear();
  }

  private async page(page: Asked) {
    if (this.isBusy) return;
    this.isBusy = true;
    await this.ask(page);
    this.isBusy = false;
  }

  private async ask({ path, what, again, isWanted, take }: Asked): Promise<Outcome> {
    this.asked += 1;
    try {
      const answer = await get<TaskAttemptEntries>(path);
      if (this.isClosed || !isWanted()) return "overtaken";
      take(answer);
      this.coming.unshift(...this.meanwhile);
      this.take();
      // What else did not come is still missing.
      if (this.window.problem?.what === what) this.change({ problem: null });
      return "taken";
    } catch (error) {
      if (this.isClosed || !isWanted()) return "overtaken";
      this.change({
        problem: { what, error: error instanceof Error ? error : new Error(String(error)), again },
      });
      return "failed";
    } finally {
      this.asked -= 1;
      if (this.asked === 0) this.meanwhile = [];
    }
  }

  private hear(run: string, message: LiveMessage) {
    if ("resync" in message) {
      // The run's entries were made anew: what is shown of them may be of another shape.
      this.settled.delete(run);
      this.isOutdated = true;
      void this.open();
    } else if ("error" in message) {
      this.settled.add(run);
      this.unfollow(run);
    } else {
      const told = { run, batch: message.value as IndexedEntry[] };
      this.coming.push(told);
      if (this.asked > 0) this.meanwhile.push(told);
      this.timer ??= window.setTimeout(() => this.take(), PACE);
      if (message.finished) {
        this.settled.add(run);
        this.unfollow(run);
      }
    }
  }

  private unfollow(run: string) {
    this.followed.get(run)?.();
    this.followed.delete(run);
  }

  private take() {
    clearTimeout(this.timer);
    this.timer = undefined;
    let { entries, hasNewer, counts } = this.window;
    let added = 0;
    for (const { run, batch } of this.coming.splice(0)) {
      for (const { index } of batch) counts = counted(counts, run, index);
      const room = this.isAtEnd ? Number.POSITIVE_INFINITY : MOST - entries.length;
      const result = upsert(entries, this.order, run, batch, hasNewer ? 0 : room, this.window.hasOlder);
      entries = result.entries;
      added += result.added;
      hasNewer ||= result.leftOut > 0;
    }
    const isSame = entries === this.window.entries && hasNewer === this.window.hasNewer;
    if (isSame && counts === this.window.counts && added === 0) return;
    this.change({ entries, hasNewer, counts, grew: "end", arrived: this.window.arrived + added });
  }

  private change(change: Partial<Window>) {
    this.window = { ...this.window, ...change };
    for (const changed of this.watchers) changed();
  }
}

const placed = ({ execution_process_id: run, index, entry }: TaskAttemptEntry): Placed => ({
  key: keyAt(run, index),
  run,
  index,
  entry,
});

type Upserted = { entries: readonly Placed[]; added: number; leftOut: number };

/**
 * Puts entries of a run where they belong: each replaces its older form or is added. What lies before the window is not
 * wanted when there is more before it, and what lies behind its end only while there is room.
 */
export function upsert(
  entries: readonly Placed[],
  order: readonly string[],
  run: string,
  batch: readonly IndexedEntry[],
  room: number,
  hasOlder: boolean,
): Upserted {
  let result: Placed[] | null = null;
  let added = 0;
  let leftOut = 0;
  const rank = order.indexOf(run);
  const isBefore = (it: Placed, index: number) => {
    const itsRank = order.indexOf(it.run);
    return itsRank < rank || (itsRank === rank && it.index < index);
  };
  for (const { index, entry } of batch) {
    const list = result ?? entries;
    const at = place(list, (it) => isBefore(it, index));
    const there = list[at];
    if (there && there.run === run && there.index === index) {
      if (there.entry === entry) continue;
      result ??= [...entries];
      result[at] = { ...there, entry };
      continue;
    }
    if (at === 0 && hasOlder && list.length > 0) continue;
    if (at === list.length && list.length > 0 && added >= room) {
      leftOut += 1;
      continue;
    }
    result ??= [...entries];
    result.splice(at, 0, { key: keyAt(run, index), run, index, entry });
    added += 1;
  }
  return { entries: result ?? entries, added, leftOut };
}

/** The first place whose entry is not before. Nearly always the end. */
function place(list: readonly Placed[], isBefore: (it: Placed) => boolean) {
  const last = list.at(-1);
  if (!last || isBefore(last)) return list.length;
  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const it = list[middle];
    if (it && isBefore(it)) low = middle + 1;
    else high = middle;
  }
  return low;
}
