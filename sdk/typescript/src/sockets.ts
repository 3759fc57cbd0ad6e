// WebSocket streams: a sequence of messages that outlives its connections, and polling where there is no socket.
//
// What a stream does when it is taken up again depends on what it carries: a log goes on after its last position,
// a map starts with its whole state, the live socket goes on with each topic where it was.

import { poll, polled } from './polling.js';
import {
  delay, ForgeError, headersOf, pause, refusal, unreachable, urlOf,
  type Given, type OperationSpec, type Transport,
} from './transport.js';

/** As much of a WebSocket as is needed; browsers, Node 22 and the `ws` package have it. */
export interface SocketLike {
  onopen: ((event: never) => unknown) | null;
  onmessage: ((event: never) => unknown) | null;
  onclose: ((event: never) => unknown) | null;
  onerror: ((event: never) => unknown) | null;
  send(text: string): void;
  close(): void;
}

/** Opens a socket at an address; the headers carry the token, where the platform can send any. */
export type OpenSocket = (url: string, headers: Record<string, string>) => SocketLike;

type Message = Record<string, unknown>;

const PIPES = ['Stdout', 'Stderr'] as const;

/** Follows a stream of messages until it ends or its reader stops. */
export async function* followSocket<R>(
  transport: Transport,
  open: OpenSocket | undefined,
  operation: OperationSpec,
  given: Given,
): AsyncIterableIterator<R> {
  if (open === undefined) {
    if (!polled(operation)) {
      throw new ForgeError(0, `${operation.path} needs a WebSocket: use Node 22 or pass one in, as in {WebSocket}`);
    }
    yield* poll(transport, operation, given) as AsyncIterableIterator<R>;
    return;
  }
  const signal = given.options?.signal;
  const stopped = (): boolean => signal?.aborted === true;
  const place = new Place(operation, given);
  let failures = 0;
  while (!stopped()) {
    const url = urlOf(transport, operation, place.given());
    const inbox = new Inbox(open(url.replace(/^http/, 'ws'), headersOf(transport)), place.greetings(), signal);
    try {
      for await (const message of inbox) {
        failures = 0;
        yield place.take(message) as R;
        if (place.isOver) return;
      }
    } finally {
      inbox.leave();
    }
    if (stopped() || inbox.endedWell) return;
    place.breakOff();
    if (!inbox.opened) await explain(transport, url);
    if ((failures += 1) >= transport.retry.tries) throw unreachable(url, new Error('the WebSocket broke'));
    await pause(delay(transport.retry, failures), signal).catch(() => undefined);
  }
}

/** Where a reader is in a stream, and how it asks for what comes after. */
class Place {
  /** The server has told everything that was asked for. */
  isOver = false;
  readonly #operation: OperationSpec;
  readonly #given: Given;
  #position: number | undefined;
  /** How many entries of the log came by earlier connections, and by all of them. */
  #before = 0;
  #entries = 0;
  /** How much of a plain log was heard, and how much of it comes again. */
  readonly #heard = { Stdout: 0, Stderr: 0 };
  #skip = { Stdout: 0, Stderr: 0 };
  readonly #topics = new Map<string, number | undefined>();

  constructor(operation: OperationSpec, given: Given) {
    this.#operation = operation;
    this.#given = given;
    for (const { topic, after } of given.subscriptions ?? []) this.#topics.set(topic, after);
  }

  given(): Given {
    if (this.#position === undefined || this.#operation.resumes !== true) return this.#given;
    return { ...this.#given, query: { ...this.#given.query, from: this.#position } };
  }

  /** What is said as soon as a connection is open. */
  greetings(): Message[] {
    const subscribe = ([topic, after]: [string, number | undefined]): Message =>
      ({ subscribe: after === undefined ? { topic } : { topic, after } });
    return [...this.#topics].map(subscribe);
  }

  /** Notes where a message leads to, and returns it as one of the whole stream. */
  take(message: Message): Message {
    const { topic, position, error, finished } = message;
    if (typeof topic === 'string') {
      if (typeof error === 'string' || finished === true) this.#topics.delete(topic);
      else if (typeof position === 'number') this.#topics.set(topic, position);
      this.isOver = this.#topics.size === 0;
    } else {
      if (typeof position === 'number') this.#position = position;
      this.isOver = finished === true;
    }
    const isLog = this.#operation.resumes === true && Array.isArray(message['JsonPatch']);
    if (isLog) return this.#renumbered(message);
    const isRetold = this.#operation.retells === true && Array.isArray(message['JsonPatch']);
    if (isRetold) return this.#known(message);
    return PIPES.some((pipe) => typeof message[pipe] === 'string') ? this.#unheard(message) : message;
  }

  /** A plain log begins anew with each connection; what was heard before is cut off. */
  #unheard(message: Message): Message {
    const rest = { ...message };
    for (const pipe of PIPES) {
      const text = rest[pipe];
      if (typeof text !== 'string') continue;
      const skipped = Math.min(this.#skip[pipe], text.length);
      this.#skip[pipe] -= skipped;
      this.#heard[pipe] += text.length - skipped;
      rest[pipe] = text.slice(skipped);
    }
    return rest;
  }

  /** The server counts the entries of a log anew for each connection; the reader sees one list. */
  #renumbered(message: Message): Message {
    const patch = (message['JsonPatch'] as { path: string }[]).map((operation) => {
      const at = this.#before + Number(operation.path.split('/').pop());
      this.#entries = Math.max(this.#entries, at + 1);
      return { ...operation, path: `/entries/${at}` };
    });
    return { ...message, JsonPatch: patch };
  }

  /** A new connection adds what an earlier one has added; the reader has it, so that it is replaced. */
  #known(message: Message): Message {
    const patch = (message['JsonPatch'] as { op: string; path: string }[]).map((operation) => {
      const at = Number(operation.path.split('/').pop());
      const op = operation.op === 'add' && at < this.#entries ? 'replace' : operation.op;
      this.#entries = Math.max(this.#entries, at + 1);
      return { ...operation, op };
    });
    return { ...message, JsonPatch: patch };
  }

  breakOff(): void {
    this.#before = this.#entries;
    this.#skip = { ...this.#heard };
  }
}

/** What arrives on one connection, in order. */
class Inbox implements AsyncIterable<Message> {
  opened = false;
  /** The server said that it is done, which is not the same as being cut off. */
  endedWell = false;
  readonly #socket: SocketLike;
  readonly #arrived: Message[] = [];
  readonly #signal: AbortSignal | undefined;
  #over = false;
  #wake: () => void = () => undefined;

  constructor(socket: SocketLike, greetings: Message[], signal: AbortSignal | undefined) {
    this.#socket = socket;
    this.#signal = signal;
    signal?.addEventListener('abort', this.leave, { once: true });
    socket.onopen = () => {
      this.opened = true;
      for (const greeting of greetings) socket.send(JSON.stringify(greeting));
    };
    socket.onmessage = (event: { data: unknown }) => {
      this.#arrived.push(JSON.parse(String(event.data)) as Message);
      this.#wake();
    };
    socket.onclose = (event: { code: number }) => {
      this.endedWell = event.code === 1000;
      this.#end();
    };
    // A close always follows; without a listener some platforms end the program.
    socket.onerror = () => undefined;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Message> {
    for (;;) {
      const message = this.#arrived.shift();
      if (message !== undefined) yield message;
      else if (this.#over) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Closes the connection; nothing that arrives later is read. */
  readonly leave = (): void => {
    this.#signal?.removeEventListener('abort', this.leave);
    this.#arrived.length = 0;
    this.#end();
    this.#socket.close();
  };

  #end(): void {
    this.#over = true;
    this.#wake();
  }
}

/** A socket does not say why it was refused, but the same request without an upgrade does. */
async function explain(transport: Transport, url: string): Promise<void> {
  const response = await transport.fetch(url, { headers: headersOf(transport) }).catch(() => undefined);
  if (response === undefined || response.status === 429 || response.status >= 500) return;
  const problem = await refusal(response);
  // The refusal that only asks for the upgrade says nothing new.
  const known = (response.status === 400 && /websocket/i.test(problem.message)) || response.status === 426;
  if (!known && response.status >= 400) throw problem;
}
