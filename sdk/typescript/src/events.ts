// Server-sent events over fetch: an endless sequence that goes on after the last event when a connection breaks.

import {
  delay, headersOf, pause, refusal, unreachable, urlOf,
  type Given, type OperationSpec, type ServerEvent, type Transport,
} from './transport.js';

/** Follows an event stream until its reader stops; a connection that breaks is taken up after the last event. */
export async function* followEvents(
  transport: Transport,
  operation: OperationSpec,
  given: Given,
): AsyncIterableIterator<ServerEvent> {
  const signal = given.options?.signal;
  const stopped = (): boolean => signal?.aborted === true;
  // A reader that leaves the loop must not leave the connection behind.
  const left = new AbortController();
  const both = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  const url = urlOf(transport, operation, given);
  let last = given.options?.lastEventId ?? null;
  let failures = 0;
  try {
    while (!stopped()) {
      try {
        const headers: Record<string, string> = { ...headersOf(transport), Accept: 'text/event-stream' };
        if (last !== null) headers['Last-Event-ID'] = last;
        const response = await transport.fetch(url, { headers, signal: both, cache: 'no-store' });
        if (!response.ok || response.body === null) {
          // A mistake stays a mistake; only what may pass is tried again.
          if (response.status !== 429 && response.status < 500) throw await refusal(response);
          if ((failures += 1) >= transport.retry.tries) throw await refusal(response);
          await response.body?.cancel();
        } else {
          for await (const event of parseEvents(response.body)) {
            failures = 0;
            if (event.id !== null) last = event.id;
            if (event.data !== undefined) yield event;
          }
          // The server went away between two events; whoever follows wants to go on.
        }
      } catch (error) {
        if (stopped()) return;
        if (error instanceof Error && error.name === 'ForgeError') throw error;
        if ((failures += 1) >= transport.retry.tries) throw unreachable(url, error);
      }
      await pause(delay(transport.retry, Math.max(failures, 1)), signal).catch(() => undefined);
    }
  } finally {
    left.abort();
  }
}

/** Parses a stream of events. An event without data only moves the position: its data is undefined. */
export async function* parseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let event = fresh();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A carriage return at the very end may be half of a line's end.
      const whole = rest.endsWith('\r') ? rest.length - 1 : rest.length;
      const lines = rest.slice(0, whole).split(/\r\n|\n|\r/);
      rest = (lines.pop() ?? '') + rest.slice(whole);
      for (const line of lines) {
        if (line !== '') {
          take(event, line);
        } else {
          if (event.data.length > 0 || event.id !== null) yield finished(event);
          event = fresh();
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

interface Block {
  id: string | null;
  event: string;
  data: string[];
}

function fresh(): Block {
  return { id: null, event: 'message', data: [] };
}

function take(event: Block, line: string): void {
  const colon = line.indexOf(':');
  const field = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
  if (field === 'id' && !value.includes('\0')) event.id = value;
  else if (field === 'event') event.event = value;
  else if (field === 'data') event.data.push(value);
}

function finished(event: Block): ServerEvent {
  const text = event.data.join('\n');
  let data: unknown = event.data.length === 0 ? undefined : text;
  try {
    data = data === undefined ? undefined : JSON.parse(text);
  } catch {
    // Data that is not JSON is given as it is.
  }
  return { id: event.id, event: event.event, data };
}
