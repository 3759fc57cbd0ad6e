// How one call is made, read and tried again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ForgeClient, ForgeError } from '../dist/index.js';
import { envelope, json, play, refused } from './play.mjs';

const quick = { tries: 4, firstDelay: 5, longestDelay: 50 };
const start = { task: { project_id: 'p', title: 't' }, executor_profile_id: { executor: 'SCRIPTED' }, base_branch: 'main' };

test('the payload of the envelope is returned, with the token sent and one slash too many taken', async (t) => {
  const { asked, baseUrl } = await play(t, (_, response) => envelope(response, [{ id: 'a' }]));
  const client = new ForgeClient({ baseUrl: `${baseUrl}/`, token: 'secret' });
  assert.deepEqual(await client.listTasks({ project_id: 'a b&c' }), [{ id: 'a' }]);
  assert.equal(asked[0].url, '/api/tasks?project_id=a+b%26c');
  assert.equal(asked[0].headers.authorization, 'Bearer secret');
});

test('a parameter of the path is encoded, and an empty one is refused before anything is sent', async (t) => {
  const { asked, baseUrl } = await play(t, (_, response) => envelope(response, {}));
  const client = new ForgeClient({ baseUrl });
  await client.getTask('a/../b?c');
  assert.equal(asked[0].url, '/api/tasks/a%2F..%2Fb%3Fc');
  await assert.rejects(async () => client.deleteTask(''), /needs task_id/);
  assert.equal(asked.length, 1);
});

test('a refusal is an error with its status, sentence and data', async (t) => {
  const { baseUrl } = await play(t, (_, response) =>
    json(response, 409, { success: false, data: null, error_data: { type: 'busy' }, message: 'not now' }));
  const client = new ForgeClient({ baseUrl });
  await assert.rejects(client.getTask('x'), (error) => {
    assert.ok(error instanceof ForgeError);
    assert.deepEqual([error.status, error.message, error.errorData], [409, 'not now', { type: 'busy' }]);
    return true;
  });
});

test('a refusal that comes with 200 is an error too', async (t) => {
  const { baseUrl } = await play(t, (_, response) => refused(response, 200, 'The specified path does not exist'));
  const client = new ForgeClient({ baseUrl });
  const made = client.createProject({ name: 'x', git_repo_path: '/nowhere', use_existing_repo: true });
  await assert.rejects(made, { name: 'ForgeError', status: 200, message: 'The specified path does not exist' });
});

test('what a proxy says is told by its status', async (t) => {
  const { baseUrl } = await play(t, (_, response) => response.writeHead(404).end('<html>'));
  await assert.rejects(new ForgeClient({ baseUrl }).listProjects(), { status: 404, message: '404 Not Found' });
});

test('a read is tried again while a failure may pass', async (t) => {
  const { asked, baseUrl } = await play(t, (request, response, _, n) => {
    if (n === 1) refused(response, 503, 'busy');
    else if (n === 2) request.socket.destroy();
    else envelope(response, []);
  });
  assert.deepEqual(await new ForgeClient({ baseUrl, retry: quick }).listProjects(), []);
  assert.equal(asked.length, 3);
});

test('tries are bounded', async (t) => {
  const { asked, baseUrl } = await play(t, (_, response) => refused(response, 502, 'gone'));
  await assert.rejects(new ForgeClient({ baseUrl, retry: quick }).listProjects(), { status: 502, message: 'gone' });
  assert.equal(asked.length, 4);
});

test('a mistake of the caller is not tried again', async (t) => {
  const { asked, baseUrl } = await play(t, (_, response) => refused(response, 422, '`title` must be a text'));
  await assert.rejects(new ForgeClient({ baseUrl, retry: quick }).getTask('x'), { status: 422 });
  assert.equal(asked.length, 1);
});

test('a start carries one key through all its tries, and another start another', async (t) => {
  const { asked, baseUrl } = await play(t, (request, response, _, n) => {
    if (n === 1) request.socket.destroy();
    else envelope(response, { id: 'x' });
  });
  const client = new ForgeClient({ baseUrl, retry: quick });
  await client.createAndStartTask(start);
  await client.createAndStartTask(start);
  await client.createAndStartTask(start, { idempotencyKey: 'mine' });
  const keys = asked.map((request) => request.headers['idempotency-key']);
  assert.equal(keys.length, 4);
  assert.equal(keys[0], keys[1]);
  assert.notEqual(keys[1], keys[2]);
  assert.equal(keys[3], 'mine');
  assert.equal(asked[0].body, asked[1].body);
});

test('a POST without a key is not sent twice once it may have arrived', async (t) => {
  const { asked, baseUrl } = await play(t, (request, response, _, n) => {
    if (n === 1) request.socket.destroy();
    else refused(response, 503, 'busy');
  });
  const client = new ForgeClient({ baseUrl, retry: quick });
  const tag = { tag_name: 'a', content: 'b' };
  await assert.rejects(client.createTag(tag), { status: 0 });
  assert.equal(asked.length, 1);
  await assert.rejects(client.createTag(tag), { status: 503 });
  assert.equal(asked.length, 2);
  assert.equal(asked[0].headers['idempotency-key'], undefined);
});

test('who is told to wait waits as long as told, and anything may be sent again', async (t) => {
  const times = [];
  const { baseUrl } = await play(t, (_, response, __, n) => {
    times.push(performance.now());
    if (n === 1) refused(response, 429, 'slower', { 'Retry-After': '1' });
    else envelope(response, { id: 'x' });
  });
  const client = new ForgeClient({ baseUrl, retry: { ...quick, longestDelay: 5000 } });
  await client.createTag({ tag_name: 'a', content: 'b' });
  assert.ok(times[1] - times[0] >= 990, `it waited ${times[1] - times[0]} ms`);
});

test('a server that is not there is named, after all tries', async () => {
  const client = new ForgeClient({ baseUrl: 'http://127.0.0.1:1', retry: quick });
  await assert.rejects(client.createTag({ tag_name: 'a', content: 'b' }), (error) => {
    assert.equal(error.status, 0);
    assert.match(error.message, /Forge at http:\/\/127\.0\.0\.1:1 cannot be reached/);
    return true;
  });
});

test('a signal ends a call at once, also while it waits to try again', async (t) => {
  const stop = new AbortController();
  const { asked, baseUrl } = await play(t, (_, response) => {
    refused(response, 503, 'busy');
    setImmediate(() => stop.abort());
  });
  const client = new ForgeClient({ baseUrl, retry: { tries: 9, firstDelay: 60_000, longestDelay: 60_000 } });
  await assert.rejects(client.listProjects({ signal: stop.signal }), { name: 'AbortError' });
  assert.equal(asked.length, 1);
});

test('a fetch that is passed in is the one that is used', async () => {
  const fetch = async (url) => Response.json({ success: true, data: url, error_data: null, message: null });
  const client = new ForgeClient({ baseUrl: 'http://forge.example', fetch });
  assert.equal(await client.listProjects(), 'http://forge.example/api/projects');
});
