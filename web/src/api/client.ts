// Calls to the server: every answer is opened here, and every refusal becomes a `Refused` with the server's own
// sentence. Retries only what may be sent twice: reads, and calls that carry an idempotency key.

import { send } from "./send";

/** A call that did not succeed: the server's sentence, or why it could not be reached. */
export class Refused extends Error {
  constructor(
    message: string,
    /** The HTTP status; 0 when the server could not be reached. */
    readonly status: number,
    /** What the server sent beside its sentence, such as the files that are in the way. */
    readonly details: unknown = null,
  ) {
    super(message);
  }

  get isAway() {
    return this.status === 0;
  }
}

type Method = "GET" | "POST" | "PUT" | "DELETE";

type Options = {
  body?: unknown;
  /** Sent as the idempotency key: the same act under the same key is done once. */
  key?: string;
  signal?: AbortSignal;
};

const asked = new Map<string, Promise<unknown>>();

/** Asks before anybody needs it. The first who gets that path is given the answer, the next asks anew. */
export function askAhead(path: string) {
  const answer = call("GET", path, {});
  // Whoever takes it is told why it did not come.
  answer.catch(() => {});
  asked.set(path, answer);
}

export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = asked.get(path);
  asked.delete(path);
  return (answer as Promise<T> | undefined) ?? call<T>("GET", path, { signal });
}
export const post = <T>(path: string, body: unknown = {}) => call<T>("POST", path, { body });
export const put = <T>(path: string, body: unknown) => call<T>("PUT", path, { body });
export const remove = <T = null>(path: string) => call<T>("DELETE", path, {});

/** Sends a file as a form, as the image routes want it. */
export const upload = <T>(path: string, file: Blob, name: string) => {
  const form = new FormData();
  form.append("image", file, name);
  return call<T>("POST", path, { body: form });
};

/** How long an act that got no answer may be tried again as the same one. */
const SAME_ACT = 120_000;

/** Acts that were sent and not answered, by what they are. */
const unanswered = new Map<string, { key: string; since: number }>();

/**
 * Posts an act that must not happen twice: a start, a message. Who clicks again while nobody knows whether it happened
 * means the same act; who does so after an answer, or much later, means another one.
 */
export async function postOnce<T>(path: string, body: unknown = {}): Promise<T> {
  const act = `${path} ${JSON.stringify(body)}`;
  const known = unanswered.get(act);
  const isSame = known !== undefined && Date.now() - known.since < SAME_ACT;
  const { key } = isSame ? known : { key: crypto.randomUUID() };
  if (!isSame) unanswered.set(act, { key, since: Date.now() });
  try {
    const answer = await call<T>("POST", path, { body, key });
    unanswered.delete(act);
    return answer;
  } catch (error) {
    if (error instanceof Refused && !error.isAway) unanswered.delete(act);
    throw error;
  }
}

async function call<T>(method: Method, path: string, { body, key, signal }: Options): Promise<T> {
  const headers: Record<string, string> = {};
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  const request: RequestInit = { method, headers, signal };
  if (body !== undefined) request.body = isForm ? body : JSON.stringify(body);

  const response = await reach(`/api${path}`, request, method === "GET" || key !== undefined);
  return open<T>(response);
}

async function reach(url: string, request: RequestInit, maySendAgain: boolean): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await send(url, request);
    } catch (error) {
      if (request.signal?.aborted) throw error;
      if (!maySendAgain || attempt === 2) throw new Refused("The server cannot be reached.", 0);
      await new Promise((done) => setTimeout(done, 250 * 2 ** attempt));
    }
  }
}

async function open<T>(response: Response): Promise<T> {
  const answer = await response.json().catch(() => null);
  if (response.ok && answer?.success) return answer.data as T;
  const sentence = answer?.message || `The server answered ${response.status} ${response.statusText}.`;
  throw new Refused(sentence, response.status, answer?.error_data ?? answer?.data ?? null);
}

/** What to show of any error. */
export const sentenceOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
