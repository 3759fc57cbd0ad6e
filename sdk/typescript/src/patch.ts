// The part of JSON Patch that the streams of Forge use: add, replace and remove by a path.

/** One change: `add`, `replace` or `remove`; `value` is there unless something is removed. */
export interface Operation {
  op: string;
  path: string;
  value?: unknown;
}

/**
 * Applies a patch to a document in place, and returns it: `replace` and `remove` of what is not there do nothing,
 * as in the older web page, and `add` puts where something is.
 */
export function applyPatch<T extends object>(document: T, patch: readonly Operation[]): T {
  for (const operation of patch) {
    if (['add', 'replace', 'remove'].includes(operation.op)) apply(document, operation);
  }
  return document;
}

function apply(document: object, operation: Operation): void {
  const parts = operation.path.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = parts.pop();
  if (last === undefined) return;
  let parent: unknown = document;
  for (const part of parts) parent = own(parent, part);
  if (typeof parent !== 'object' || parent === null) return;
  if (Array.isArray(parent)) {
    change(parent, last, operation);
  } else if (operation.op === 'add' || Object.hasOwn(parent, last)) {
    // A key like `__proto__` is a key, never a way to everything else.
    if (operation.op === 'remove') delete (parent as Record<string, unknown>)[last];
    else Object.defineProperty(parent, last, { value: operation.value, writable: true, enumerable: true, configurable: true });
  }
}

function own(parent: unknown, key: string): unknown {
  const found = typeof parent === 'object' && parent !== null && Object.hasOwn(parent, key);
  return found ? (parent as Record<string, unknown>)[key] : undefined;
}

function change(list: unknown[], key: string, operation: Operation): void {
  const at = key === '-' ? list.length : Number(key);
  if (!Number.isInteger(at) || at < 0) return;
  if (operation.op === 'add') list.splice(Math.min(at, list.length), 0, operation.value);
  else if (at < list.length && operation.op === 'replace') list[at] = operation.value;
  else if (at < list.length) list.splice(at, 1);
}
