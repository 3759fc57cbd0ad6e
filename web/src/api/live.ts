// One WebSocket for a tab. Topics are followed by position, so a new connection goes on where the old one ended;
// what a message means is not known here.

import { useSyncExternalStore } from "react";
import type { LiveMessage } from "./types";

export type Connection =
  | { state: "connecting" }
  /** `isBack`: there were tries before that came to nothing. */
  | { state: "online"; since: number; isBack: boolean }
  /** Since when, and when the next try comes (both in milliseconds of the clock). */
  | { state: "away"; since: number; next: number };

export type Listener = {
  /** Each message of the topic; an empty `value` only moves the position. */
  message(message: LiveMessage): void;
  /** Where to begin; undefined is the topic's own beginning. */
  after?: number;
};

const QUIET = 25_000;
/** How long what was followed ahead waits for whoever wants it. */
const KEPT = 10_000;
const LONGEST_PAUSE = 10_000;
/** Within so many milliseconds an open socket notices that the server ended. */
const NOTICED = 500;

class Live {
  private socket: WebSocket | null = null;
  private readonly topics = new Map<string, { listeners: Set<Listener>; position: number | undefined }>();
  /** What topics have told before anybody listened. */
  private readonly early = new Map<string, { told: LiveMessage[]; stop: () => void }>();
  private readonly watchers = new Set<() => void>();
  private tries = 0;
  private timer: number | undefined;
  private silence: number | undefined;
  connection: Connection = { state: "connecting" };

  /** Begins; called once, by `main.ts`. */
  start() {
    this.open();
    addEventListener("online", () => this.tryNow());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.connection.state === "away") this.tryNow();
    });
  }

  /**
   * Follows a topic until the returned function is called. Whoever joins a topic that is already followed hears
   * only what comes next, so what has a beginning (a log, entries, a diff) is followed in one place.
   */
  follow(topic: string, listener: Listener): () => void {
    let followed = this.topics.get(topic);
    if (!followed) {
      followed = { listeners: new Set(), position: listener.after };
      this.topics.set(topic, followed);
      this.subscribe(topic, followed.position);
    }
    followed.listeners.add(listener);
    const early = this.early.get(topic);
    if (early) {
      early.stop();
      for (const message of early.told) listener.message(message);
    }
    return () => {
      followed.listeners.delete(listener);
      if (followed.listeners.size === 0 && this.topics.get(topic) === followed) {
        this.topics.delete(topic);
        this.send({ unsubscribe: { topic } });
      }
    };
  }

  /** Follows a topic for whoever follows it next, who is then told everything from its beginning. */
  ahead(topic: string) {
    if (this.topics.has(topic)) return;
    const told: LiveMessage[] = [];
    const end = this.follow(topic, { message: (message) => void told.push(message) });
    const stop = () => {
      clearTimeout(timer);
      this.early.delete(topic);
      end();
    };
    const timer = setTimeout(stop, KEPT);
    this.early.set(topic, { told, stop });
  }

  /** What a topic that is followed ahead has told so far. Whoever follows it next is told that again. */
  heard(topic: string): readonly LiveMessage[] {
    return this.early.get(topic)?.told ?? [];
  }

  tryNow() {
    if (this.connection.state !== "away") return;
    clearTimeout(this.timer);
    this.open();
  }

  watch(changed: () => void) {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  }

  private open() {
    const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/live/ws`;
    const socket = new WebSocket(url);
    // A try that was still under way is given up: its end is not this one's.
    const former = this.socket;
    this.socket = socket;
    former?.close();
    socket.onopen = () => {
      if (this.socket !== socket) return;
      this.tries = 0;
      this.say({ state: "online", since: Date.now(), isBack: this.connection.state === "away" });
      for (const [topic, { position }] of this.topics) this.subscribe(topic, position);
      this.listen();
    };
    socket.onmessage = (event) => {
      if (this.socket !== socket) return;
      this.listen();
      this.hear(JSON.parse(event.data as string) as LiveMessage);
    };
    socket.onclose = () => this.lost(socket);
  }

  private lost(socket: WebSocket) {
    if (this.socket !== socket) return;
    this.socket = null;
    clearTimeout(this.silence);
    const pause = Math.min(LONGEST_PAUSE, 500 * 2 ** this.tries);
    this.tries += 1;
    const since = this.connection.state === "away" ? this.connection.since : Date.now();
    this.say({ state: "away", since, next: Date.now() + pause });
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.open(), pause);
  }

  // A laptop that slept leaves a socket that looks open and says nothing: asking is the only way to know.
  private listen() {
    clearTimeout(this.silence);
    this.silence = window.setTimeout(async () => {
      const socket = this.socket;
      if (!socket) return;
      const heard = await fetch("/api/health", { signal: AbortSignal.timeout(5000) }).then(
        (response) => response.ok,
        () => false,
      );
      if (heard) this.listen();
      else {
        this.lost(socket);
        socket.close();
      }
    }, QUIET);
  }

  private hear(message: LiveMessage) {
    const followed = message.topic ? this.topics.get(message.topic) : undefined;
    if (!followed) return;
    if ("position" in message) followed.position = message.position;
    for (const listener of [...followed.listeners]) listener.message(message);
  }

  private subscribe(topic: string, after: number | undefined) {
    this.send({ subscribe: after === undefined ? { topic } : { topic, after } });
  }

  private send(message: unknown) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private say(connection: Connection) {
    this.connection = connection;
    for (const changed of this.watchers) changed();
  }
}

export const live = new Live();

export const useConnection = () =>
  useSyncExternalStore(
    (changed) => {
      const stop = live.watch(changed);
      return () => void stop();
    },
    () => live.connection,
  );

/** Waits until the server is back; false at once when it is not away. */
export async function whenBack(): Promise<boolean> {
  // What failed may have failed a moment before the socket did.
  if (live.connection.state !== "away") await new Promise((resolve) => setTimeout(resolve, NOTICED));
  if (live.connection.state !== "away") return false;
  return new Promise((resolve) => {
    const stop = live.watch(() => {
      if (live.connection.state === "away") return;
      stop();
      resolve(true);
    });
  });
}

/** Waits until the server is away. */
export const whenAway = () =>
  new Promise<void>((resolve) => {
    const stop = live.watch(() => {
      if (live.connection.state !== "away") return;
      stop();
      resolve();
    });
  });
