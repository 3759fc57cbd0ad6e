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

/** How often silence is counted. A page that was busy counts one beat, however long that took. */
const BEAT = 1000;
/** After so many silent beats the server is asked for a sign of life. */
const ASKED = 4;
/** After so many it is asked by another way: a slow line may be busy with one long message. */
const ASKED_AGAIN = 6;
/** After so many it counts as away. */
const SILENT = 10;
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
  /** How many beats the socket has been silent, or has not opened. */
  private silence = 0;
  connection: Connection = { state: "connecting" };

  /** Begins; called once, by `main.ts`. */
  start() {
    this.open();
    setInterval(() => this.beat(), BEAT);
    addEventListener("online", () => this.tryNow());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return;
      if (this.connection.state === "away") this.tryNow();
      // A laptop that slept leaves a socket that looks open and says nothing: it is asked at once.
      else this.silence = Math.max(this.silence, ASKED - 1);
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
    this.silence = 0;
    former?.close();
    socket.onopen = () => {
      if (this.socket !== socket) return;
      this.tries = 0;
      this.say({ state: "online", since: Date.now(), isBack: this.connection.state === "away" });
      for (const [topic, { position }] of this.topics) this.subscribe(topic, position);
      this.silence = 0;
    };
    socket.onmessage = (event) => {
      if (this.socket !== socket) return;
      this.silence = 0;
      // The answer to a ping has no topic, so nobody hears it.
      this.hear(JSON.parse(event.data as string) as LiveMessage);
    };
    socket.onclose = () => this.lost(socket);
  }

  private lost(socket: WebSocket) {
    if (this.socket !== socket) return;
    this.socket = null;
    const pause = Math.min(LONGEST_PAUSE, 500 * 2 ** this.tries);
    this.tries += 1;
    const since = this.connection.state === "away" ? this.connection.since : Date.now();
    this.say({ state: "away", since, next: Date.now() + pause });
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.open(), pause);
  }

  // A server that is frozen, or a machine that is gone, closes nothing: only a sign of life tells it from one that has
  // nothing to say. The same goes for a connection that never opens.
  private beat() {
    const socket = this.socket;
    if (!socket) return;
    this.silence += 1;
    if (this.silence >= SILENT) {
      this.lost(socket);
      socket.close();
    } else if (this.silence === ASKED) this.send({ ping: {} });
    else if (this.silence === ASKED_AGAIN && socket.readyState === WebSocket.OPEN) {
      fetch("/api/health", { signal: AbortSignal.timeout(BEAT * (SILENT - ASKED_AGAIN)) }).then(
        (response) => {
          if (response.ok && this.socket === socket) this.silence = 0;
        },
        () => {},
      );
    }
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
