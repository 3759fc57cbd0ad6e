// One call over HTTP: where it goes, how its answer is read, and when it is tried again.

/** How an operation is called, and how its answer is read. */
export interface OperationSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path, with the names of its parameters in braces. */
  readonly path: string;
  /** The payload of the envelope, plain JSON, text, bytes, server-sent events or the messages of a WebSocket. */
  readonly gives: 'data' | 'json' | 'text' | 'bytes' | 'events' | 'socket';
  /** The server remembers the answer under an `Idempotency-Key`. */
  readonly repeatable?: boolean;
  /** The stream goes on after a position that it tells, by the parameter `from`. */
  readonly resumes?: boolean;
  /** The stream is a list that every connection tells from its beginning. */
  readonly retells?: boolean;
  /** The part of the form that a file is sent in. */
  readonly part?: string;
}

/** What a caller may say about one call. */
export interface CallOptions {
  signal?: AbortSignal;
  /** The key under which the server remembers a start; made for each call where it is not given. */
  idempotencyKey?: string;
}

/** What a caller may say about a stream. */
export interface FollowOptions {
  signal?: AbortSignal;
  /** How often to ask, in milliseconds, where there is no WebSocket. */
  pollInterval?: number;
  /** The id of the last event that was seen, to go on after it. */
  lastEventId?: string;
}

/** One event of the event stream; its data is parsed. */
export interface ServerEvent {
  /** Where to go on after it; null where a stream cannot be taken up at this place. */
  id: string | null;
  event: string;
  data: unknown;
}

/** A topic of the live socket, and the position to go on after. */
export interface Subscription {
  topic: string;
  after?: number;
}

/** What one call is made of. */
export interface Given {
  path?: Record<string, string>;
  query?: Record<string, string | number | boolean | null | undefined> | undefined;
  body?: unknown;
  file?: Blob;
  subscriptions?: Subscription[];
  options?: (CallOptions & FollowOptions) | undefined;
}

/** When and how often a failure that may pass is met with another try. */
export interface RetryOptions {
  /** How many times a call is tried in all. */
  tries: number;
  /** The first wait, in milliseconds; each further one is twice as long. */
  firstDelay: number;
  /** The longest wait, in milliseconds, also where the server asks for a longer one. */
  longestDelay: number;
}

export const RETRY: RetryOptions = { tries: 4, firstDelay: 200, longestDelay: 10_000 };

/** A refusal by the server, or a failure to reach it, whose status is 0. */
export class ForgeError extends Error {
  readonly status: number;
  /** What the server says for programs, where it does. */
  readonly errorData: unknown;

  constructor(status: number, message: string, errorData: unknown = null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ForgeError';
    this.status = status;
    this.errorData = errorData;
  }
}

export interface Transport {
  readonly baseUrl: string;
  readonly token: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly retry: RetryOptions;
}

/** Makes a call, again where that is safe and may help, and reads the answer. */
export async function call<R>(transport: Transport, operation: OperationSpec, given: Given): Promise<R> {
  const request = requestOf(transport, operation, given);
  const signal = given.options?.signal;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    const outcome = await once(transport, request, signal);
    if (outcome instanceof Response && outcome.ok) return (await read(operation, outcome)) as R;
    const last = attempt >= transport.retry.tries || !mayTryAgain(operation, outcome);
    if (last) throw outcome instanceof Response ? await refusal(outcome) : unreachable(request.url, outcome);
    if (outcome instanceof Response) await outcome.body?.cancel();
    await pause(delay(transport.retry, attempt, outcome), signal);
  }
}

/** The address of an operation, with its parameters filled in. */
export function urlOf(transport: Transport, operation: OperationSpec, given: Given): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = given.path?.[name];
    // An empty one would name the list instead of the thing.
    if (typeof value !== 'string' || value === '') throw new TypeError(`${operation.path} needs ${name}`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given.query ?? {})) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const text = query.toString();
  return `${transport.baseUrl}${path}${text === '' ? '' : `?${text}`}`;
}

export function headersOf(transport: Transport): Record<string, string> {
  return transport.token === undefined ? {} : { Authorization: `Bearer ${transport.token}` };
}

/** Reads a refusal: the sentence of the envelope, or the status where there is no envelope. */
export async function refusal(response: Response): Promise<ForgeError> {
  const text = await response.text().catch(() => '');
  let body: { message?: unknown; error_data?: unknown } = {};
  try {
    body = (JSON.parse(text) as typeof body | null) ?? {};
  } catch {
    // A proxy in between answers in its own way.
  }
  const told = typeof body.message === 'string' ? body.message : `${response.status} ${response.statusText}`;
  return new ForgeError(response.status, told, body.error_data ?? null);
}

/** The wait before another try: longer each time, and never the same for all callers. */
export function delay(retry: RetryOptions, attempt: number, outcome?: unknown): number {
  if (outcome instanceof Response) {
    const asked = Number(outcome.headers.get('Retry-After') ?? Number.NaN);
    if (asked >= 0) return Math.min(asked * 1000, retry.longestDelay);
  }
  const ceiling = Math.min(retry.firstDelay * 2 ** (attempt - 1), retry.longestDelay);
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}

/** Waits, or throws as soon as the signal says so. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop, { once: true });
  });
}

export function unreachable(url: string, cause: unknown): ForgeError {
  const because = cause instanceof Error ? cause.message : String(cause);
  return new ForgeError(0, `Forge at ${new URL(url).origin} cannot be reached: ${because}`, null, cause);
}

interface Prepared {
  url: string;
  init: RequestInit;
}

function requestOf(transport: Transport, operation: OperationSpec, given: Given): Prepared {
  const headers = headersOf(transport);
  const init: RequestInit = { method: operation.method, headers };
  if (operation.repeatable === true) {
    headers['Idempotency-Key'] = given.options?.idempotencyKey ?? crypto.randomUUID();
  }
  if (given.file !== undefined) {
    const form = new FormData();
    const name = (given.file as Partial<File>).name ?? 'image.png';
    form.append(operation.part ?? 'file', given.file, name);
    init.body = form;
  } else if (given.body !== undefined) {
    headers['Content-Type'] = 'application/json';
    init.body = JSON.stringify(given.body);
  }
  return { url: urlOf(transport, operation, given), init };
}

/** Sends a request once; what cannot be sent is returned, not thrown. Only the caller's own stop is thrown. */
async function once(transport: Transport, request: Prepared, signal?: AbortSignal): Promise<unknown> {
  try {
    return await transport.fetch(request.url, signal === undefined ? request.init : { ...request.init, signal });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return error;
  }
}

const PASSING = [502, 503, 504];

/** Codes of failures that happen before a request leaves. */
const NEVER_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];

/** Whether another try may help and can do no harm: what may have been done already must be safe to do twice. */
function mayTryAgain(operation: OperationSpec, outcome: unknown): boolean {
  const safe = operation.method !== 'POST' || operation.repeatable === true;
  if (outcome instanceof Response) {
    return outcome.status === 429 || (safe && PASSING.includes(outcome.status));
  }
  return safe || NEVER_SENT.includes(codeOf(outcome));
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  return typeof cause?.code === 'string' ? cause.code : '';
}

async function read(operation: OperationSpec, response: Response): Promise<unknown> {
  switch (operation.gives) {
    case 'text':
      return response.text();
    case 'bytes':
      return response.blob();
    case 'json':
      return response.json();
    default: {
      const envelope = (await response.json()) as Envelope;
      // Some refusals come with 200, where older clients look for the message.
      if (envelope.success !== true) {
        throw new ForgeError(response.status, envelope.message ?? 'Forge refused', envelope.error_data);
      }
      return envelope.data;
    }
  }
}

interface Envelope {
  success: boolean;
  data: unknown;
  error_data: unknown;
  message: string | null;
}
