// Streams: events over fetch, messages over WebSockets, and polling where there are none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { ForgeClient, applyPatch } from '../dist/index.js';
import { parseEvents } from '../dist/events.js';
import { followSocket } from '../dist/sockets.js';
import { envelope, play, refused, takeSockets } from './play.mjs';

const retry = { tries: 4, firstDelay: 5, longestDelay: 50 };

function opener(url, headers) {
  return new WebSocket(url, [], { headers });
}

function transport(baseUrl, token) {
  return { baseUrl, token, fetch, retry };
}

async function collect(stream, count = Number.POSITIVE_INFINITY) {
  const all = [];
  for await (const item of stream) {
    all.push(item);
    if (all.length >= count) break;
  }
  return all;
}

test('events are read however they are cut into pieces', async () => {
  const text = ': hello\n\nid: 1\nevent: json_patch\ndata: [1,\ndata: 2]\n\nid: 2\n\r\nevent: x\r\ndata:ü\r\n\r\n\rdata: cut';
  const bytes = new TextEncoder().encode(text);
  const whole = [
    { id: '1', event: 'json_patch', data: [1, 2] },
    { id: '2', event: 'message', data: undefined },
    { id: null, event: 'x', data: 'ü' },
  ];
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const pieces = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    assert.deepEqual(await collect(parseEvents(pieces)), whole, `in pieces of ${size}`);
  }
});

test('an event stream that breaks goes on after its last event', async (t) => {
  const { asked, baseUrl } = await play(t, (request, response, _, n) => {
    if (n === 2) return refused(response, 503, 'starting');
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    if (n === 1) response.write('id: 6\n: from now on\n\nid: 7\nevent: json_patch\ndata: []\n\nid: 8\nevent: half', () => request.socket.destroy());
    else response.write('id: 8\nevent: json_patch\ndata: ["b"]\n\n');
  });
  const events = await collect(new ForgeClient({ baseUrl, retry }).followEvents(), 2);
  assert.deepEqual(events.map(({ id, data }) => [id, data]), [['7', []], ['8', ['b']]]);
  assert.deepEqual(asked.map((request) => request.headers['last-event-id']), [undefined, '7', '7']);
});

test('a reader that leaves an event stream leaves no connection', async (t) => {
  const gone = Promise.withResolvers?.() ?? (() => {
    const made = {};
    made.promise = new Promise((resolve) => (made.resolve = resolve));
    return made;
  })();
  const { baseUrl } = await play(t, (request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write('id: 1\nevent: json_patch\ndata: []\n\n');
    request.socket.on('close', gone.resolve);
  });
  for await (const event of new ForgeClient({ baseUrl, retry }).followEvents()) {
    assert.equal(event.id, '1');
    break;
  }
  await gone.promise;
});

test('a signal ends an event stream without an error', async (t) => {
  const { baseUrl } = await play(t, (_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write('id: 1\nevent: json_patch\ndata: []\n\n');
  });
  const stop = new AbortController();
  const client = new ForgeClient({ baseUrl, retry });
  for await (const _ of client.followEvents({}, { signal: stop.signal })) stop.abort();
});

test('an event stream that is refused says why', async (t) => {
  const { asked, baseUrl } = await play(t, (_, response) => refused(response, 401, 'a token is needed'));
  const client = new ForgeClient({ baseUrl, retry });
  await assert.rejects(collect(client.followEvents()), { status: 401, message: 'a token is needed' });
  assert.equal(asked.length, 1);
});

test('a log goes on after its last position when a socket breaks, and ends when it is finished', async (t) => {
  const server = await play(t, (_, response) => refused(response, 400, 'this is a WebSocket'));
  const opened = takeSockets(t, server, (socket, _, n) => {
    const piece = (at, content, position) =>
      socket.send(JSON.stringify({ JsonPatch: [{ op: 'add', path: `/entries/${at}`, value: { type: 'STDOUT', content } }], position }));
    if (n === 1) {
      piece(0, 'a', 10);
      piece(1, 'b', 20);
      socket.close(1011);
    } else {
      piece(0, 'c', 30);
      socket.send('{"finished":true,"type":"finished"}');
    }
  });
  const client = new ForgeClient({ baseUrl: server.baseUrl, token: 'secret', WebSocket, retry });
  const document = { entries: [] };
  for await (const message of client.followRawLogs('r')) applyPatch(document, message.JsonPatch ?? []);
  assert.deepEqual(document.entries.map(({ content }) => content), ['a', 'b', 'c']);
  assert.deepEqual(opened.map(({ url }) => url.split('?')[1]), [undefined, 'from=20']);
  assert.equal(opened[0].headers.authorization, 'Bearer secret');
});

test('a plain log that begins anew with each connection is heard once', async (t) => {
  const server = await play(t, (_, response) => refused(response, 400, 'this is a WebSocket'));
  takeSockets(t, server, (socket, _, n) => {
    const chunks = n === 1 ? [{ Stdout: 'one ' }, { Stderr: 'oops' }] : [{ Stdout: 'on' }, { Stderr: 'oops' }, { Stdout: 'e two' }, { finished: true }];
    for (const chunk of chunks) socket.send(JSON.stringify(chunk));
    if (n === 1) socket.close(1011);
  });
  const spec = { method: 'GET', path: '/api/execution-runs/{execution_run_id}/logs/ws', gives: 'socket' };
  const stream = followSocket(transport(server.baseUrl), opener, spec, { path: { execution_run_id: 'r' } });
  const messages = await collect(stream);
  const heard = (pipe) => messages.map((message) => message[pipe] ?? '').join('');
  assert.deepEqual([heard('Stdout'), heard('Stderr'), messages.at(-1).finished], ['one two', 'oops', true]);
});

test('a map stream that breaks starts again with the whole map', async (t) => {
  const server = await play(t, (_, response) => refused(response, 400, 'this is a WebSocket'));
  const opened = takeSockets(t, server, (socket, _, n) => {
    socket.send(JSON.stringify({ JsonPatch: [{ op: 'replace', path: '/tasks', value: { a: n } }] }), () => {
      if (n === 1) socket.close(1001);
    });
  });
  const spec = { method: 'GET', path: '/api/tasks/stream/ws', gives: 'socket' };
  const stream = followSocket(transport(server.baseUrl), opener, spec, { query: { project_id: 'p' } });
  const document = {};
  for await (const { JsonPatch } of stream) {
    applyPatch(document, JsonPatch.map((operation) => ({ ...operation, op: 'add' })));
    if (document.tasks.a === 2) break;
  }
  assert.deepEqual(opened.map(({ url }) => url), Array(2).fill('/api/tasks/stream/ws?project_id=p'));
});

test('the live socket goes on with each topic where it was', async (t) => {
  const server = await play(t, (_, response) => refused(response, 400, 'this is a WebSocket'));
  const heard = [];
  takeSockets(t, server, (socket, _, n) => {
    socket.on('message', (text) => {
      const { topic, after } = JSON.parse(text).subscribe;
      heard.push([n, topic, after]);
      if (topic === 'log:r') {
        socket.send(JSON.stringify({ topic, position: n * 10, value: [] }), () => n === 1 && socket.close(1011));
        if (n === 2) {
          socket.send(JSON.stringify({ topic, position: 30, value: [], finished: true }));
          socket.send(JSON.stringify({ topic: 'events', error: 'it cannot be followed any more' }));
        }
      }
    });
  });
  const spec = { method: 'GET', path: '/api/live/ws', gives: 'socket' };
  const subscriptions = [{ topic: 'events', after: 3 }, { topic: 'log:r' }];
  const messages = await collect(followSocket(transport(server.baseUrl), opener, spec, { subscriptions }));
  assert.deepEqual(messages.map(({ position }) => position), [10, 20, 30, undefined], 'it ends with its last topic');
  assert.deepEqual(heard, [[1, 'events', 3], [1, 'log:r', undefined], [2, 'events', 3], [2, 'log:r', 10]]);
});

test('a socket that is refused says why, and is not tried again', async (t) => {
  const { asked, baseUrl } = await play(t, (_, response) => refused(response, 404, 'there is no run r'));
  const client = new ForgeClient({ baseUrl, WebSocket, retry });
  await assert.rejects(collect(client.followRawLogs('r')), { status: 404, message: 'there is no run r' });
  assert.equal(asked.filter(({ headers }) => headers.upgrade === 'websocket').length, 1);
});

test('a clean close ends a stream', async (t) => {
  const server = await play(t, (_, response) => refused(response, 400, 'this is a WebSocket'));
  const opened = takeSockets(t, server, (socket) => socket.close(1000));
  const client = new ForgeClient({ baseUrl: server.baseUrl, WebSocket, retry });
  assert.deepEqual(await collect(client.followRawLogs('r')), []);
  assert.equal(opened.length, 1);
});

test('a signal ends a socket stream without an error', async (t) => {
  const server = await play(t, (_, response) => refused(response, 400, 'this is a WebSocket'));
  const stop = new AbortController();
  takeSockets(t, server, (socket) => socket.on('close', () => stop.abort()) && stop.abort());
  const client = new ForgeClient({ baseUrl: server.baseUrl, WebSocket, retry });
  assert.deepEqual(await collect(client.followRawLogs('r', {}, { signal: stop.signal })), []);
});

test('where there is no WebSocket a map stream asks for the list and tells what changed', async (t) => {
  const lists = [[{ id: 'a', n: 1 }, { id: 'b', n: 1 }], [{ id: 'a', n: 1 }, { id: 'b', n: 1 }], [{ id: 'b', n: 2 }, { id: 'c', n: 1 }]];
  const { asked, baseUrl } = await play(t, (_, response, __, n) => envelope(response, lists[Math.min(n, 3) - 1]));
  const spec = { method: 'GET', path: '/api/projects/{project_id}/tasks/stream/ws', gives: 'socket' };
  const given = { path: { project_id: 'p' }, options: { pollInterval: 5 } };
  const document = { tasks: {} };
  for await (const { JsonPatch } of followSocket(transport(baseUrl), undefined, spec, given)) {
    applyPatch(document, JsonPatch);
    if ('c' in document.tasks) {
      assert.deepEqual(JsonPatch.map(({ op, path }) => `${op} ${path}`), ['remove /tasks/a', 'replace /tasks/b', 'add /tasks/c']);
      break;
    }
  }
  assert.deepEqual(document, { tasks: { b: { id: 'b', n: 2 }, c: { id: 'c', n: 1 } } });
  assert.equal(asked[0].url, '/api/tasks?project_id=p');
});

test('where there is no WebSocket a log says what it needs', async () => {
  const spec = { method: 'GET', path: '/api/execution-processes/{run_id}/raw-logs/ws', gives: 'socket' };
  const stream = followSocket(transport('http://127.0.0.1:1'), undefined, spec, { path: { run_id: 'r' } });
  await assert.rejects(collect(stream), /needs a WebSocket: use Node 22 or pass one in/);
});

test('a patch is applied as the streams mean it', () => {
  const document = { tasks: {}, entries: ['a'] };
  applyPatch(document, [
    { op: 'add', path: '/tasks/x', value: 1 },
    { op: 'replace', path: '/tasks/missing', value: 1 },
    { op: 'remove', path: '/tasks/missing' },
    { op: 'add', path: '/tasks/a~1b~0', value: 2 },
    { op: 'add', path: '/missing/deep', value: 2 },
    { op: 'add', path: '/entries/1', value: 'b' },
    { op: 'replace', path: '/entries/0', value: 'A' },
    { op: 'add', path: '/tasks/__proto__/polluted', value: true },
  ]);
  assert.deepEqual(document, { tasks: { x: 1, 'a/b~': 2 }, entries: ['A', 'b'] });
  assert.equal({}.polluted, undefined);
});
