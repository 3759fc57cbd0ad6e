// The client: one method for each operation of the API, over the transport of the platform it runs on.

import { followEvents } from './events.js';
import { Operations } from './operations.js';
import { followSocket, type OpenSocket, type SocketLike } from './sockets.js';
import {
  call, RETRY,
  type Given, type OperationSpec, type RetryOptions, type ServerEvent, type Transport,
} from './transport.js';

export interface ForgeClientOptions {
  /** Where the server is, as in `http://127.0.0.1:8887`. */
  baseUrl: string;
  /** The token of the server or of an attempt; not needed by the same user on the same machine. */
  token?: string;
  /** Used in place of the platform's own. */
  fetch?: typeof globalThis.fetch;
  /** Used in place of the platform's own, or where it has none: the class of the `ws` package, for one. */
  WebSocket?: WebSocketClass;
  retry?: Partial<RetryOptions>;
}

/** A class of sockets that may take headers, as that of the `ws` package does. */
export type WebSocketClass = new (
  url: string,
  protocols?: string[],
  options?: { headers: Record<string, string> },
) => SocketLike;

/** A client of one server. It keeps no connection and no state between calls. */
export class ForgeClient extends Operations {
  readonly #transport: Transport;
  readonly #open: OpenSocket | undefined;

  constructor(options: ForgeClientOptions) {
    super();
    this.#transport = {
      baseUrl: options.baseUrl.replace(/\/+$/, ''),
      token: options.token,
      // A method of the window must be called on the window.
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      retry: { ...RETRY, ...options.retry },
    };
    this.#open = socketOpener(options.WebSocket);
  }

  protected override call<R>(operation: OperationSpec, given: Given): Promise<R> {
    return call(this.#transport, operation, given);
  }

  protected override followEventStream(operation: OperationSpec, given: Given): AsyncIterableIterator<ServerEvent> {
    return followEvents(this.#transport, operation, given);
  }

  protected override followSocket<R>(operation: OperationSpec, given: Given): AsyncIterableIterator<R> {
    return followSocket(this.#transport, this.#open, operation, given);
  }
}

function socketOpener(given: WebSocketClass | undefined): OpenSocket | undefined {
  if (given !== undefined) return (url, headers) => new given(url, [], { headers });
  const platform = globalThis.WebSocket as unknown as (new (url: string, options?: unknown) => SocketLike) | undefined;
  if (platform === undefined) return undefined;
  // A browser sends its cookie and takes no headers; Node takes them in the place of the protocols.
  const inBrowser = 'document' in globalThis || 'WorkerGlobalScope' in globalThis;
  return (url, headers) => (inBrowser ? new platform(url) : new platform(url, { headers }));
}
