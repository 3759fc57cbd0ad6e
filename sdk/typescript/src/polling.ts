// Map streams where there is no WebSocket: the list is asked for again and again, and what changed in between is
// told in the same messages.

import type { Operation } from './patch.js';
import { call, pause, type Given, type OperationSpec, type Transport } from './transport.js';

type Item = { id: string };

/** The lists that hold what a map stream tells, by the end of the stream's path. */
const LISTS = [
  { stream: '/tasks/stream/ws', list: '/api/tasks', map: 'tasks', keys: ['project_id'] },
  {
    stream: '/execution-processes/stream/ws',
    list: '/api/execution-processes',
    map: 'execution_processes',
    keys: ['task_attempt_id', 'show_soft_deleted'],
  },
];

const INTERVAL = 2000;

/** Whether a stream can be had by polling. A log cannot: no list holds it. */
export function polled(operation: OperationSpec): boolean {
  return LISTS.some(({ stream }) => operation.path.endsWith(stream));
}

/** Asks for a list until the reader stops; the first message is the whole map, the others are what changed. */
export async function* poll(
  transport: Transport,
  operation: OperationSpec,
  given: Given,
): AsyncIterableIterator<{ JsonPatch: Operation[] }> {
  const found = LISTS.find(({ stream }) => operation.path.endsWith(stream));
  if (found === undefined) return;
  const { list, map, keys } = found;
  const signal = given.options?.signal;
  const all = { ...given.query, ...given.path };
  const query = Object.fromEntries(Object.entries(all).filter(([key]) => keys.includes(key)));
  const ask: OperationSpec = { method: 'GET', path: list, gives: 'data' };
  let known: Map<string, string> | undefined;
  while (signal?.aborted !== true) {
    const items = await call<Item[]>(transport, ask, { query, options: signal === undefined ? {} : { signal } })
      .catch((error: unknown) => {
        if (signal?.aborted === true) return undefined;
        throw error;
      });
    if (items === undefined) return;
    const now = new Map(items.map((item) => [item.id, JSON.stringify(item)]));
    const patch = known === undefined ? [whole(map, items)] : changes(map, known, now);
    known = now;
    if (patch.length > 0) yield { JsonPatch: patch };
    await pause(given.options?.pollInterval ?? INTERVAL, signal).catch(() => undefined);
  }
}

function whole(map: string, items: Item[]): Operation {
  return { op: 'replace', path: `/${map}`, value: Object.fromEntries(items.map((item) => [item.id, item])) };
}

function changes(map: string, before: Map<string, string>, now: Map<string, string>): Operation[] {
  const patch: Operation[] = [];
  for (const id of before.keys()) {
    if (!now.has(id)) patch.push({ op: 'remove', path: `/${map}/${id}` });
  }
  for (const [id, text] of now) {
    const op = before.has(id) ? 'replace' : 'add';
    if (before.get(id) !== text) patch.push({ op, path: `/${map}/${id}`, value: JSON.parse(text) });
  }
  return patch;
}
