// Streams of the real server: through its death, and without WebSockets.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { ForgeClient, applyPatch } from '../dist/index.js';
import { eventually, makeRepository, startForge } from './server.mjs';

const retry = { tries: 200, firstDelay: 20, longestDelay: 200 };

async function begin(t) {
  const forge = await startForge(t);
  const client = new ForgeClient({ baseUrl: forge.baseUrl, WebSocket, retry });
  const git_repo_path = makeRepository(forge.dir);
  const project = await client.createProject({ name: 'demo', git_repo_path, use_existing_repo: true });
  const start = (title, description, by = client) => by.createAndStartTask({
    task: { project_id: project.id, title, description },
    executor_profile_id: { executor: 'SCRIPTED' },
    base_branch: 'main',
  });
  return { forge, client, project, start };
}

test('a log is read to its end through the death of the server, every line once', async (t) => {
  const { forge, client, start } = await begin(t);
  const { attempt_id } = await start('Count', 'lines 400 5\nsay the end');
  const [run] = await client.listExecutionProcesses({ task_attempt_id: attempt_id });
  const log = { entries: [] };
  let replaced = null;
  for await (const message of client.followRawLogs(run.id)) {
    if ('JsonPatch' in message) applyPatch(log, message.JsonPatch);
    if (replaced === null && log.entries.length > 3) replaced = forge.replace();
  }
  await replaced;
  const fresh = { entries: [] };
  for await (const message of client.followRawLogs(run.id)) {
    if ('JsonPatch' in message) applyPatch(fresh, message.JsonPatch);
  }
  const text = ({ entries }) => entries.map(({ content }) => content).join('');
  assert.match(text(log), /the end/);
  assert.equal(text(log), text(fresh));
});

test('entries are read to their end through the death of the server, every entry once', async (t) => {
  const { forge, client, start } = await begin(t);
  const { attempt_id } = await start('Count', 'lines 400 5\nrun echo hi\nsay the end');
  const [run] = await client.listExecutionProcesses({ task_attempt_id: attempt_id });
  const follow = async (onMessage = () => undefined) => {
    const list = { entries: [] };
    for await (const message of client.followNormalizedLogs(run.id)) {
      if ('JsonPatch' in message) applyPatch(list, message.JsonPatch);
      onMessage(list);
    }
    return list.entries.map(({ content }) => content);
  };
  let replaced = null;
  const entries = await follow((list) => {
    if (replaced === null && list.entries.length > 3) replaced = forge.replace();
  });
  await replaced;
  assert.equal(entries.at(-1).content, 'the end');
  // The prompt, its title said back, the lines, a command and the end.
  assert.equal(entries.length, 404);
  assert.deepEqual(entries, await follow());
});

test('events go on through the death of the server, none missing and none twice', async (t) => {
  const { forge, client, project } = await begin(t);
  await client.createTask({ project_id: project.id, title: 'before' });
  const ids = [];
  const titles = [];
  for await (const event of client.followEvents({ after: 0 })) {
    // Only the last of the events about one change carries its number.
    if (event.id !== null) ids.push(Number(event.id));
    for (const { path, value } of event.event === 'json_patch' ? event.data : []) {
      if (path.startsWith('/tasks/')) titles.push(value.title);
    }
    if (titles.includes('last')) break;
    if (titles.length === 1) {
      await forge.replace();
      await client.createTask({ project_id: project.id, title: 'last' });
    }
  }
  assert.deepEqual(titles, ['before', 'last']);
  assert.deepEqual(ids, [...ids].sort((a, b) => a - b));
});

test('the stream of tasks tells the same by WebSocket and by polling', async (t) => {
  const { forge, client, project, start } = await begin(t);
  const stop = new AbortController();
  t.after(() => stop.abort());
  const options = { signal: stop.signal, pollInterval: 20 };
  const follow = (by) => {
    const document = { tasks: {} };
    const ended = (async () => {
      for await (const { JsonPatch } of by.followTasks({ project_id: project.id }, options)) applyPatch(document, JsonPatch);
    })();
    return { document, ended };
  };
  const bySocket = follow(client);
  const byPolling = follow(new ForgeClient({ baseUrl: forge.baseUrl, WebSocket: undefined, retry }));
  const gone = await client.createTask({ project_id: project.id, title: 'gone' });
  const first = await start('first', 'say hello');
  await client.updateTask(first.id, { title: 'changed' });
  await client.deleteTask(gone.id);
  await eventually(async () => (await client.getTaskAttempt(first.attempt_id)).state === 'finished');
  const wanted = async () => Object.fromEntries((await client.listTasks({ project_id: project.id })).map((task) => [task.id, task]));
  for (const { document } of [bySocket, byPolling]) {
    await eventually(async () => {
      try {
        assert.deepEqual(document.tasks, await wanted());
        return true;
      } catch {
        return false;
      }
    });
  }
  stop.abort();
  await Promise.all([bySocket.ended, byPolling.ended]);
});

test('a start whose answer is lost is started once', async (t) => {
  const { forge, client, start } = await begin(t);
  let lost = 0;
  const lossy = async (url, init) => {
    const response = await fetch(url, init);
    if (url.endsWith('/create-and-start') && lost < 2) {
      lost += 1;
      await response.arrayBuffer();
      throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
    }
    return response;
  };
  const started = await start('once', 'say hello', new ForgeClient({ baseUrl: forge.baseUrl, fetch: lossy, retry }));
  assert.equal(lost, 2);
  const attempts = await client.listTaskAttempts();
  assert.deepEqual(attempts.map(({ id }) => id), [started.attempt_id]);
});
