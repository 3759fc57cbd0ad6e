// What an attempt has changed, as far as it is looked at: the list of files, told live, and the contents of those that
// come near the screen. A file that is being read does not change under the reader; it waits for "Update".

import { get } from "../api/client";
import { live } from "../api/live";
import type { Diff, DiffEntry, LiveMessage, PatchOpDiffValue, TaskAttemptDiff } from "../api/types";
import { pathOf } from "./files";

/**
 * What is compared: everything since the branch left its target, or the files between two snapshots. Where a rebase came
 * between these, the target's changes lie between them too: only the files that the attempt itself changed are shown.
 */
export type Scope = { from: string; to: string; isRebased?: boolean } | null;

export type Content = { state: "known"; diff: Diff } | { state: "failed"; error: unknown };

/** How many files are asked for at once. */
const AT_ONCE = 25;

export class DiffStore {
  /** The list as it is shown, by path. */
  files: ReadonlyMap<string, Diff> = new Map();
  /** False until the list has come once. */
  isKnown = false;
  error: unknown = null;
  /** Files that changed while they were read, and are shown as they were. */
  held: ReadonlySet<string> = new Set();
  /** Grows with every change of the list; contents that come leave it as it is. */
  version = 0;

  private told = new Map<string, Diff>();
  private contents = new Map<string, Content>();
  private asked = new Set<string>();
  private wanted = new Set<string>();
  private reading: ReadonlySet<string> = new Set();
  /** What was shown before a new connection, until it is told again. */
  private past = new Map<string, Diff>();
  private watchers = new Set<() => void>();
  private isEnded = false;
  private isTelling = false;
  /** How many messages were taken before it began to follow. */
  private heard = 0;

  constructor(
    readonly attempt: string,
    readonly scope: Scope,
  ) {
    // What came before the page was drawn is drawn with it.
    const heard = scope ? [] : live.heard(this.topic);
    for (const message of heard) this.take(message);
    this.heard = heard.length;
  }

  private get topic() {
    return `diff-stats:${this.attempt}`;
  }

  /** Begins to follow; the answer ends it. */
  start(): () => void {
    this.isEnded = false;
    if (this.scope) {
      void this.load();
      return () => {
        this.isEnded = true;
      };
    }
    // That is told once more, unless nobody has it any more: then everything is told anew.
    let known = live.heard(this.topic).length >= this.heard ? this.heard : 0;
    this.heard = 0;
    const stop = live.follow(this.topic, {
      message: (message) => {
        if (known > 0) known -= 1;
        else if (this.take(message)) this.changedSoon();
      },
    });
    return () => {
      this.isEnded = true;
      stop();
    };
  }

  /** Tells whether there is something new to draw. */
  private take(message: LiveMessage): boolean {
    if ("error" in message) this.error = new Error(message.error);
    else if ("value" in message) this.hear(message.value as PatchOpDiffValue[]);
    else return false;
    return true;
  }

  subscribe = (watcher: () => void) => {
    this.watchers.add(watcher);
    return () => void this.watchers.delete(watcher);
  };

  content(path: string): Content | undefined {
    return this.contents.get(path);
  }

  /** Says that a file is near the screen, so that its contents are fetched. */
  want(path: string) {
    if (!this.contents.has(path)) this.ask(path);
  }

  private ask(path: string) {
    if (this.asked.has(path) || this.wanted.has(path)) return;
    if (this.wanted.size === 0) setTimeout(() => this.fetch(), 0);
    this.wanted.add(path);
  }

  again(path: string) {
    this.contents.delete(path);
    this.tell();
    this.want(path);
  }

  /** Says which files are on the screen or commented on right now. */
  read(paths: ReadonlySet<string>) {
    this.reading = paths;
  }

  /** Shows everything as it is now. */
  update() {
    for (const path of this.held) this.contents.delete(path);
    this.held = new Set();
    this.files = new Map(this.told);
    this.changed();
  }

  private hear(operations: readonly PatchOpDiffValue[]) {
    const before = this.told;
    this.told = new Map(before);
    const touched = new Set<string>();
    for (const { op, path, value } of operations) {
      if (path === "/entries") {
        this.told = new Map();
        for (const [name, diff] of this.files) this.past.set(name, diff);
        continue;
      }
      const name = path.slice("/entries/".length).replaceAll("~1", "/").replaceAll("~0", "~");
      if (op === "remove") this.told.delete(name);
      else this.told.set(name, (value as DiffEntry).content);
      touched.add(name);
    }
    const held = new Set(this.held);
    for (const name of this.isKnown ? touched : []) {
      const [past, now] = [this.past.get(name), this.told.get(name)];
      // After a new connection everything is told again. What looks the same stays while its contents are asked for anew.
      if (past && now && looksLike(past, now)) {
        this.told.set(name, past);
        if (this.contents.has(name)) this.ask(name);
      } else if ((past ?? this.files.get(name)) && this.reading.has(name) && this.contents.has(name))
        held.add(name);
      else this.contents.delete(name);
    }
    this.held = held;
    const shown = new Map(this.told);
    for (const name of held) {
      const old = this.files.get(name) ?? this.past.get(name);
      if (old) shown.set(name, old);
    }
    for (const name of touched) this.past.delete(name);
    this.files = shown;
    this.isKnown = true;
    this.error = null;
  }

  private query(more: ReadonlyArray<[string, string]>) {
    const words = new URLSearchParams(more.map((pair) => [...pair]));
    if (this.scope) {
      words.set("from", this.scope.from);
      words.set("to", this.scope.to);
    }
    return `/task-attempts/${this.attempt}/diff?${words}`;
  }

  private async load() {
    try {
      const [{ diffs: all }, own] = await Promise.all([
        get<TaskAttemptDiff>(this.query([["stats_only", "true"]])),
        this.scope?.isRebased
          ? get<TaskAttemptDiff>(`/task-attempts/${this.attempt}/diff?stats_only=true`)
          : null,
      ]);
      const mine = own && new Set(own.diffs.flatMap(({ oldPath, newPath }) => [oldPath, newPath]));
      const diffs = mine ? all.filter((diff) => mine.has(pathOf(diff))) : all;
      this.told = new Map(diffs.map((diff) => [pathOf(diff), diff]));
      this.files = this.told;
      this.isKnown = true;
      this.error = null;
    } catch (error) {
      this.error = error;
    }
    this.changed();
  }

  private async fetch() {
    const paths = [...this.wanted].slice(0, AT_ONCE);
    for (const path of paths) {
      this.wanted.delete(path);
      this.asked.add(path);
    }
    if (this.wanted.size > 0) setTimeout(() => this.fetch(), 0);
    const asked = new Map(paths.map((path) => [path, this.told.get(path)]));
    try {
      const { diffs } = await get<TaskAttemptDiff>(this.query(paths.map((path) => ["path", path])));
      const found = new Map(diffs.map((diff) => [pathOf(diff), diff]));
      for (const path of paths) {
        const diff = found.get(path);
        // What changed while it was under way is asked for again when it is drawn.
        if (diff && (this.told.get(path) === asked.get(path) || this.held.has(path))) this.keep(path, diff);
        else if (!diff)
          this.contents.set(path, { state: "failed", error: new Error("It is not changed any more.") });
      }
    } catch (error) {
      for (const path of paths)
        if (this.contents.get(path)?.state !== "known") this.contents.set(path, { state: "failed", error });
    }
    for (const path of paths) this.asked.delete(path);
    this.tell();
  }

  private keep(path: string, diff: Diff) {
    const known = this.contents.get(path);
    if (known?.state === "known") {
      if (this.held.has(path) || isSame(known.diff, diff)) return;
      if (this.reading.has(path)) {
        this.held = new Set(this.held).add(path);
        this.changed();
        return;
      }
    }
    this.contents.set(path, { state: "known", diff });
  }

  // A long list is told in parts, and drawn once for all of them that come in the time of a frame.
  private changedSoon() {
    if (this.isTelling) return;
    this.isTelling = true;
    const tell = () => {
      this.isTelling = false;
      this.changed();
    };
    if (document.hidden) setTimeout(tell, 0);
    else requestAnimationFrame(tell);
  }

  private changed() {
    this.version += 1;
    this.tell();
  }

  private tell() {
    if (this.isEnded) return;
    for (const watcher of this.watchers) watcher();
  }
}

const looksLike = (a: Diff, b: Diff) =>
  a.additions === b.additions &&
  a.deletions === b.deletions &&
  a.change === b.change &&
  a.oldPath === b.oldPath &&
  a.newMode === b.newMode;

const isSame = (a: Diff, b: Diff) => a.oldContent === b.oldContent && a.newContent === b.newContent;
