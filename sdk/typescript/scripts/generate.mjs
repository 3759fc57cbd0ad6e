// Writes src/operations.ts from the OpenAPI document of the server, crates/server/openapi.json, and src/types.ts from
// shared/types.ts, so that the package is whole by itself.
//
// `--check` writes nothing and fails when one of them is stale.

import { readFileSync, writeFileSync } from 'node:fs';

const here = (path) => new URL(path, import.meta.url);
const document = JSON.parse(readFileSync(here('../../../crates/server/openapi.json'), 'utf8'));
const MADE = '// Made by scripts/generate.mjs from the OpenAPI document of the server. Do not edit.\n';

const files = { '../src/types.ts': types(), '../src/operations.ts': operations() };
let stale = 0;
for (const [path, text] of Object.entries(files)) {
  if (!process.argv.includes('--check')) {
    writeFileSync(here(path), text);
  } else if (read(path) !== text) {
    console.error(`${here(path).pathname} is stale; run: npm run generate-types`);
    stale = 1;
  }
}
process.exitCode = stale;

function read(path) {
  try {
    return readFileSync(here(path), 'utf8');
  } catch {
    return null;
  }
}

function types() {
  const shared = readFileSync(here('../../../shared/types.ts'), 'utf8');
  return shared.replace(/^.*\n/, '// A copy of shared/types.ts, made by scripts/generate.mjs. Do not edit.\n');
}

/** The TypeScript type of a JSON schema. */
function type(schema, indent = '') {
  if (schema === undefined || schema === true || typeof schema !== 'object') return 'unknown';
  if (schema.$ref) return schema.$ref.split('/').pop();
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const own = object(schema, indent);
  for (const key of ['oneOf', 'anyOf']) {
    if (schema[key]) {
      const parts = [...new Set(schema[key].map((part) => type(part, indent)))].join(' | ');
      return own ? `${own} & (${parts})` : parts;
    }
  }
  if (schema.allOf) {
    const parts = schema.allOf.map((part) => type(part, indent));
    return [...(own ? [own] : []), ...parts].map((part) => (part.includes(' | ') ? `(${part})` : part)).join(' & ');
  }
  if (Array.isArray(schema.type)) {
    return schema.type.map((one) => type({ ...schema, type: one }, indent)).join(' | ');
  }
  switch (schema.type) {
    case 'null':
    case 'string':
    case 'boolean':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array': {
      if (schema.prefixItems) return `[${schema.prefixItems.map((item) => type(item, indent)).join(', ')}]`;
      const item = type(schema.items, indent);
      return /[|&]/.test(item) ? `(${item})[]` : `${item}[]`;
    }
    default:
      return own ?? (schema.type === 'object' ? 'Record<string, unknown>' : 'unknown');
  }
}

/** The members of an object; null where there are none of their own. */
function object(schema, indent) {
  const inner = `${indent}  `;
  const rest = schema.additionalProperties;
  const members = Object.entries(schema.properties ?? {}).map(([name, value]) => {
    const optional = schema.required?.includes(name) ? '' : '?';
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${comment(value.description, inner)}${inner}${key}${optional}: ${type(value, inner)};\n`;
  });
  const others = rest && typeof rest === 'object' ? `Record<string, ${type(rest, indent)}>` : null;
  if (members.length === 0) return others;
  const own = `{\n${members.join('')}${indent}}`;
  return others ? `${own} & ${others}` : own;
}

function comment(text, indent = '') {
  if (!text) return '';
  const lines = text.split('\n').map((line) => line.trimEnd().replaceAll('*/', '* /'));
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

function operations() {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })));
  all.sort((a, b) => (a.operationId < b.operationId ? -1 : 1));
  const methods = all.map(method);
  const used = [...methods, 'Given', 'OperationSpec', 'ServerEvent'].join('\n');
  const transport = ['CallOptions', 'FollowOptions', 'Given', 'OperationSpec', 'ServerEvent', 'Subscription'];
  const imported = transport.filter((name) => new RegExp(`\\b${name}\\b`).test(used));
  const table = all.map((one) => `  ${one.operationId}: ${JSON.stringify(spec(one))},\n`);
  return `${MADE}
import type { ${imported.join(', ')} } from './transport.js';
import type * as T from './types.js';

/** Every operation of the API: how it is called and what comes back. */
export const operations = {
${table.join('')}} as const satisfies Record<string, OperationSpec>;

/** One method for each operation; how a call is made is up to the class that extends this. */
export abstract class Operations {
  protected abstract call<R>(operation: OperationSpec, given: Given): Promise<R>;
  protected abstract followEventStream(operation: OperationSpec, given: Given): AsyncIterableIterator<ServerEvent>;
  protected abstract followSocket<R>(operation: OperationSpec, given: Given): AsyncIterableIterator<R>;

${methods.join('\n')}}
`;
}

/** What the transport needs to know of an operation. */
function spec(operation) {
  const part = operation.requestBody?.content['multipart/form-data'];
  return {
    method: operation.method,
    path: operation.path,
    gives: gives(operation),
    ...(repeatable(operation) ? { repeatable: true } : {}),
    ...(gives(operation) === 'socket' && takes(operation, 'last') ? { retells: true }
      : gives(operation) === 'socket' && takes(operation, 'from') ? { resumes: true } : {}),
    ...(part ? { part: Object.keys(partSchema(part.schema).properties)[0] } : {}),
  };
}

function takes(operation, name) {
  return operation.parameters?.some((one) => one.name === name) === true;
}

function partSchema(schema) {
  const found = resolve(schema);
  return found.properties ? found : partSchema((found.oneOf ?? found.anyOf)[0]);
}

function resolve(schema) {
  return schema?.$ref ? document.components.schemas[schema.$ref.split('/').pop()] : schema;
}

function repeatable(operation) {
  return (operation.parameters ?? []).some((one) => one.in === 'header' && one.name === 'Idempotency-Key');
}

/** How the answer is read. */
function gives(operation) {
  if (operation['x-forge-stream'] === 'websocket') return 'socket';
  if (operation['x-forge-stream']) return 'events';
  const [kind] = answer(operation);
  if (kind === 'application/json') return payload(operation) === null ? 'json' : 'data';
  return kind.startsWith('text/') || kind.endsWith('+json') ? 'text' : 'bytes';
}

function answer(operation) {
  const good = Object.entries(operation.responses).find(([status]) => /^2/.test(status));
  const [kind, media] = Object.entries(good?.[1].content ?? {})[0] ?? ['application/octet-stream', {}];
  return [kind, media.schema];
}

/** The schema inside the envelope; null where there is no envelope. */
function payload(operation) {
  const schema = answer(operation)[1];
  const envelopes = schema?.oneOf ?? [schema];
  const good = envelopes.find((one) => !one?.$ref && one?.properties?.success?.const === true);
  return good && 'data' in good.properties ? good.properties.data : null;
}

function method(operation) {
  const id = operation.operationId;
  const parameters = operation.parameters ?? [];
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const query = parameters.filter((one) => one.in === 'query');
  const live = operation.path === '/api/live/ws';
  const takes = [];
  for (const name of inPath) takes.push([camel(name), '', 'string']);
  const given = [];
  if (inPath.length > 0) given.push(`path: { ${inPath.map((name) => (name === camel(name) ? name : `${name}: ${camel(name)}`)).join(', ')} }`);
  if (operation.requestBody) {
    const [kind, media] = Object.entries(operation.requestBody.content)[0];
    const file = kind === 'multipart/form-data';
    takes.push([file ? 'file' : 'body', operation.requestBody.required ? '' : '?', file ? 'Blob' : named(type(media.schema))]);
    given.push(file ? 'file' : 'body');
  }
  if (live) {
    takes.push(['subscriptions', '', 'Subscription[]']);
    given.push('subscriptions');
  } else if (query.length > 0) {
    const members = query.map((one) => `${one.name}${one.required ? '' : '?'}: ${named(type(one.schema))}`);
    takes.push(['query', query.some((one) => one.required) ? '' : '?', `{ ${members.join('; ')} }`]);
    given.push('query');
  }
  const how = gives(operation);
  const stream = how === 'socket' || how === 'events';
  takes.push(['options', '?', stream ? 'FollowOptions' : 'CallOptions']);
  given.push('options');
  // An optional parameter cannot come before a required one.
  const lastRequired = takes.findLastIndex(([, optional]) => optional === '');
  const signature = takes.map(([name, optional, of], at) => `${name}${at < lastRequired && optional ? ` : ${of} | undefined`.replace(' :', ':') : `${optional}: ${of}`}`);
  const results = {
    socket: () => `AsyncIterableIterator<${named(type(operation['x-forge-message'])) }>`,
    events: () => 'AsyncIterableIterator<ServerEvent>',
    data: () => `Promise<${named(type(payload(operation), '  '))}>`,
    json: () => `Promise<${named(type(answer(operation)[1], '  '))}>`,
    text: () => 'Promise<string>',
    bytes: () => 'Promise<Blob>',
  };
  const made = { socket: 'followSocket', events: 'followEventStream' }[how] ?? 'call';
  const lines = [
    `  ${id}(${signature.join(', ')}): ${results[how]()} {`,
    `    return this.${made}(operations.${id}, { ${given.join(', ')} });`,
    '  }',
  ];
  return `${comment(operation.summary, '  ')}${lines.join('\n')}\n`;
}

function camel(name) {
  return name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
}

/** Names of schemas live in a namespace, so that none can hide a global. */
function named(text) {
  const names = Object.keys(document.components.schemas);
  return text.replace(/(?<!["\w.])[A-Z]\w*(?!["\w]|\??:)/g, (word) => (names.includes(word) ? `T.${word}` : word));
}
