// Every method of the client against the real server, each answer checked against the server's own schema.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { WebSocket } from 'ws';
import { ForgeClient, operations } from '../dist/index.js';
import { json, play } from './play.mjs';
import { eventually, makeRepository, startForge } from './server.mjs';

const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

test('the methods are the operations of the routes that are served, and each is called and gives what its schema says', async (t) => {
  const github = await play(t, (request, response) => json(response, 200, request.url.endsWith('/code')
    ? { device_code: 'd', user_code: 'ABCD-1234', verification_uri: 'https://github.com/login/device', expires_in: 900, interval: 5 }
    : { error: 'authorization_pending' }));
  const forge = await startForge(t, { GITHUB_BASE_URL: github.baseUrl, GITHUB_CLIENT_ID: 'sdk' });
  const check = await Checked.of(forge);
  const client = new ForgeClient({ baseUrl: forge.baseUrl, fetch: check.fetch, WebSocket });

  const { routes } = await check.during('listRoutes', () => client.listRoutes());
  const served = routes.filter((route) => route.served);
  const told = served.map(({ method, path, operation }) => `${operation} ${method} ${path}`).sort();
  const made = Object.entries(operations).map(([id, { method, path }]) => `${id} ${method} ${path}`).sort();
  assert.deepEqual(made, told, 'run `npm run generate-types`');
  for (const id of Object.keys(operations)) assert.equal(typeof client[id], 'function', id);

  const known = await scenario(forge, client, check);
  const rest = Object.keys(operations).filter((id) => !check.called.has(id) && !LAST.includes(id));
  // What only reads goes first, what deletes last.
  const order = ['GET', 'PUT', 'POST', 'DELETE'];
  rest.sort((a, b) => order.indexOf(operations[a].method) - order.indexOf(operations[b].method));
  const refused = [];
  for (const id of rest) {
    if (!(await check.during(id, () => plainCall(client, check, known, id)))) refused.push(id);
  }
  await deletions(client, check, known);

  assert.deepEqual(Object.keys(operations).filter((id) => !check.called.has(id)), [], 'every method is called');
  t.diagnostic(`${check.called.size} methods called, ${check.answers} answers and ${check.messages} messages checked`);
  if (refused.length > 0) t.diagnostic(`refused, as their schema says, for want of something: ${refused.join(', ')}`);
});

/** What is deleted when nothing else needs it any more. */
const LAST = ['deleteTag', 'deleteTaskTemplate', 'deleteTask', 'deleteTaskOfProject', 'deleteProject'];

/** A day with Forge, by the methods that make it; returns what the others need. */
async function scenario(forge, client, check) {
  const call = (id, ...args) => check.during(id, () => client[id](...args));
  const SCRIPTED = { executor: 'SCRIPTED' };
  const start = (title, description) => ({ task: { title, description }, executor_profile_id: SCRIPTED, base_branch: 'main' });
  const over = (id) => eventually(async () => ['finished', 'failed', 'stopped'].includes((await call('getTaskAttempt', id)).state));

  assert.equal((await call('health')).status, 'ok');
  assert.equal(await call('apiHealth'), 'OK');
  assert.match(await call('page'), /<html/i);
  assert.match(await call('docs'), /<html/i);
  assert.equal((await call('openApi')).openapi.slice(0, 2), '3.');
  await call('openSession', { token: forge.token() });
  await call('getSystemInfo');
  await call('getConfig');
  assert.equal((await call('updateConfig', { theme: 'DARK' })).theme, 'DARK');
  await call('updateProfiles', JSON.parse((await call('getProfiles')).content));

  assert.equal((await call('startGithubLogin')).user_code, 'ABCD-1234');
  assert.match(await call('pollGithubLogin'), /^(AUTHORIZATION_PENDING|SLOW_DOWN)$/);
  assert.equal(await call('checkGithubToken'), 'INVALID');
  const servers = { clock: { command: 'clock', args: ['--utc'] } };
  await call('updateMcpConfig', { servers }, { executor: 'CLAUDE_CODE' });
  const { mcp_config, config_path } = await call('getMcpConfig', { executor: 'CLAUDE_CODE' });
  assert.deepEqual(mcp_config.servers, servers);
  assert.ok(config_path.startsWith(forge.home), 'the file of the test, not of the person');

  const repository = makeRepository(forge.dir);
  const project = await call('createProject', { name: 'demo', git_repo_path: repository, use_existing_repo: true });
  assert.deepEqual((await call('listProjects')).map(({ id }) => id), [project.id]);
  assert.deepEqual((await call('getBoard')).projects.map(({ id }) => id), [project.id]);
  assert.equal((await call('getProject', project.id)).name, 'demo');
  assert.equal((await call('updateProject', project.id, { name: 'shown' })).name, 'shown');
  assert.equal((await call('listProjectBranches', project.id))[0].name, 'main');

  const tag = await call('createTag', { tag_name: 'sdk', content: 'x' });
  assert.ok((await call('listTags', { search: 'SDK' })).some(({ id }) => id === tag.id));
  await call('getTag', tag.id);
  await call('updateTag', tag.id, { content: 'y' });
  const template = await call('createTaskTemplate', { template_name: 'fix', title: 'Fix' });
  await call('listTaskTemplates', { global: true });
  await call('getTaskTemplate', template.id);
  await call('updateTaskTemplate', template.id, { title: 'Repair' });

  const task = await call('createTask', { project_id: project.id, title: 'Speak', description: 'edit spoken.txt hello\nsay hello' });
  await call('getTask', task.id);
  await call('updateTask', task.id, { title: 'Speak up' });
  const file = new File([DOT], 'dot.png', { type: 'image/png' });
  const image = await call('uploadImage', file);
  assert.equal((await call('uploadTaskImage', task.id, file)).id, image.id);
  assert.deepEqual((await call('getTaskImages', task.id)).map(({ id }) => id), [image.id]);
  assert.deepEqual(Buffer.from(await (await call('getImageFile', image.id)).arrayBuffer()), DOT);
  const other = await call('createTaskInProject', project.id, { title: 'Other' });
  await call('getTaskOfProject', project.id, other.id);
  await call('updateTaskOfProject', project.id, other.id, { status: 'done' });
  assert.equal((await call('listTasks', { project_id: project.id })).length, 2);
  assert.equal((await call('listTasksOfProject', project.id)).length, 2);

  const asking = await call('createAndStartTask', { ...start('Ask', 'ask May I?'), task: { project_id: project.id, title: 'Ask', description: 'ask May I?' } });
  const [ask] = await eventually(async () => {
    const asks = await call('listPendingApprovals');
    return asks.length > 0 && asks;
  });
  assert.equal((await call('getApprovalStatus', ask.approval_id)).status, 'pending');
  assert.equal((await call('respondToApproval', ask.approval_id, { approved: true })).data.status, 'approved');
  await over(asking.attempt_id);
  const hanging = await call('createAndStartTaskInProject', project.id, start('Hang', 'say hello\nhang'));
  await call('stopTaskAttempt', hanging.attempt_id);
  await over(hanging.attempt_id);

  const attempt = await call('createTaskAttempt', { task_id: task.id, executor_profile_id: SCRIPTED, base_branch: 'main' });
  await over(attempt.id);
  assert.equal((await call('listTaskAttempts', { task_id: task.id }))[0].id, attempt.id);
  const follow = await call('followUp', attempt.id, { prompt: 'say again\nhang' });
  const { session_id } = follow.executor_action.typ;
  const beside = await call('createApproval', { tool_name: 'Bash', tool_input: { command: 'ls' }, session_id });
  assert.equal(beside.execution_process_id, follow.id);
  await call('stopExecutionProcess', follow.id);
  await over(attempt.id);
  await call('updateProject', project.id, { dev_script: 'exec sleep 600' });
  await call('startDevServer', attempt.id);
  await call('stopTaskAttempt', attempt.id);
  const [run] = await call('listExecutionProcesses', { task_attempt_id: attempt.id });
  assert.equal((await call('getExecutionProcess', run.id)).status, 'completed');
  const [snapshot] = await call('listSnapshots', attempt.id);
  const restored = await call('restoreFiles', attempt.id, { snapshot_id: snapshot.id });
  assert.deepEqual(restored.written, []);
  const output = [];
  for await (const message of await call('followRawLogs', run.id)) {
    check.message('followRawLogs', message);
    for (const { value } of message.JsonPatch ?? []) output.push(value.content);
  }
  assert.match(output.join(''), /hello/);
  for await (const event of await call('followEvents', { after: 0 })) {
    // Only the last of the events about one change carries its number.
    if (event.id === null) continue;
    assert.match(event.id, /^\d+$/);
    break;
  }

  const { execution_run: loose } = await call('createExecutionRun', { project_id: project.id, prompt: 'say loose', executor_profile_id: SCRIPTED, base_branch: 'main' });
  assert.ok((await call('listExecutionRuns', { project_id: project.id })).some(({ id }) => id === loose.id));
  await call('getExecutionRun', loose.id);
  const said = [];
  for await (const message of await call('followExecutionRunLogs', loose.id)) {
    check.message('followExecutionRunLogs', message);
    said.push(message.Stdout ?? '');
  }
  assert.match(said.join(''), /loose/);
  await eventually(async () => (await call('listExecutionRunProcesses', loose.id)).every(({ status }) => status !== 'running'));
  await call('followUpExecutionRun', loose.id, { prompt: 'say more\nhang' });
  await call('stopExecutionRun', loose.id);

  const follows = { type: 'follow_up' };
  assert.equal((await call('saveDraft', attempt.id, { prompt: 'say later' }, follows)).version, 1);
  assert.equal((await call('getDraft', attempt.id, follows)).prompt, 'say later');
  assert.equal((await call('saveDraftByPost', attempt.id, { prompt: 'say much later' }, follows)).version, 2);
  await call('deleteDraft', attempt.id, { type: 'retry' });
  const comment = await call('createReviewComment', attempt.id, { path: 'spoken.txt', line: 1, text: 'Why?' });
  assert.equal((await call('updateReviewComment', attempt.id, comment.id, { text: 'Why so?' })).text, 'Why so?');
  assert.ok((await call('markReviewCommentsSent', attempt.id, { ids: [comment.id] }))[0].sent_at);
  assert.equal(await call('deleteReviewComment', attempt.id, comment.id), null);
  assert.ok((await call('dismissTaskAttempt', attempt.id)).dismissed_at);
  return {
    project_id: project.id, task_id: task.id, other_id: other.id, attempt_id: attempt.id, task_attempt_id: attempt.id,
    run_id: run.id, process_id: run.id, tag_id: tag.id, template_id: template.id, ask_id: ask.approval_id,
    executor_profile_id: SCRIPTED, executor: 'CLAUDE_CODE', base_branch: 'main', prompt: 'say more', sound: 'GENIE_NOTIFY1',
    sha: run.before_head_commit, ref: attempt.container_ref, path: forge.home, image_id: image.id, q: 'README', type: 'follow_up',
    session_id, agent_type: 'master', file_path: 'spoken.txt',
    new_target_branch: 'main', servers: {}, host: 'http://127.0.0.1:1', api_key: 'key', queued: false, title: 'Speak',
    over,
  };
}

async function deletions(client, check, known) {
  const call = (id, ...args) => check.during(id, () => client[id](...args));
  assert.equal(await call('deleteTag', known.tag_id), null);
  assert.equal(await call('deleteTaskTemplate', known.template_id), null);
  for (const { id } of await call('listTaskAttempts')) await call('stopTaskAttempt', id);
  assert.equal(await call('deleteTask', known.task_id), null);
  assert.ok((await call('listRemoved')).some(({ id }) => id === known.task_id));
  assert.equal((await call('recoverRemoved', known.task_id)).kind, 'task');
  assert.equal(await call('deleteTask', known.task_id), null);
  assert.equal(await call('deleteTaskOfProject', known.project_id, known.other_id), null);
  assert.equal(await call('deleteProject', known.project_id), null);
}

/**
 * Calls a method that has no part in the scenario with what is known and the least its schema asks for. The answer
 * is checked like any other; a refusal counts as an answer, and false is returned.
 */
async function plainCall(client, check, known, id) {
  const { document } = check;
  const { method, path } = operations[id];
  const operation = document.paths[path][method.toLowerCase()];
  const args = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => known[name] ?? crypto.randomUUID());
  const [kind, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (kind === 'multipart/form-data') args.push(new File([DOT], 'dot.png', { type: 'image/png' }));
  else if (kind !== undefined) args.push(sample(document, known, media.schema));
  const query = (operation.parameters ?? []).filter((one) => one.in === 'query');
  if (path === '/api/live/ws') args.push([{ topic: 'events', after: 0 }]);
  else if (query.length > 0) {
    const needed = query.filter((one) => one.required || one.name in known);
    args.push(Object.fromEntries(needed.map((one) => [one.name, known[one.name] ?? sample(document, known, one.schema)])));
  }
  try {
    // A diff with nothing in it says nothing; every other stream begins with something.
    const silent = path.endsWith('/diff/ws');
    const answer = client[id](...args, { signal: AbortSignal.timeout(silent ? 2000 : 60_000) });
    if (operations[id].gives !== 'socket') {
      const data = await answer;
      // What one call made, the next can name.
      for (const name of ['execution_run', 'item']) {
        const made = data?.[name] ?? (path.includes(`/${name.replace('_', '-')}s`) ? data : undefined);
        if (typeof made?.id === 'string') known[`${name}_id`] ??= made.id;
      }
    } else {
      let heard = 0;
      for await (const message of answer) {
        check.message(id, message);
        heard += 1;
        break;
      }
      assert.ok(silent || heard > 0, `${id} said nothing`);
    }
    return true;
  } catch (error) {
    if (error.name !== 'ForgeError') throw error;
    assert.ok((error.status !== 0 && error.status < 500) || error.status === 502, `${id}: ${error.status} ${error.message}`);
    return false;
  }
}

/** The least that a schema takes. */
function sample(document, known, schema) {
  if (schema.$ref) return sample(document, known, document.components.schemas[schema.$ref.split('/').pop()]);
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const one = schema.oneOf?.[0] ?? schema.anyOf?.[0];
  if (one && !schema.properties) return sample(document, known, one);
  const kind = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (schema.properties || kind === 'object') {
    const needed = Object.entries(schema.properties ?? {}).filter(([name]) => schema.required?.includes(name));
    return Object.fromEntries(needed.map(([name, of]) => [name, known[name] ?? sample(document, known, of)]));
  }
  if (kind === 'array') return [];
  if (kind === 'integer' || kind === 'number') return schema.minimum ?? 0;
  if (kind === 'boolean') return false;
  if (kind === 'null') return null;
  return schema.format === 'uuid' ? crypto.randomUUID() : 'text';
}

/** Checks every answer that a client gets against the schema of the operation that was called. */
class Checked {
  called = new Set();
  answers = 0;
  messages = 0;
  #current = null;
  #wrong = null;

  static async of({ baseUrl }) {
    const document = await (await fetch(`${baseUrl}/api/openapi.json`)).json();
    return new Checked(document);
  }

  constructor(document) {
    this.document = document;
    this.ajv = new Ajv({ strict: false, allErrors: true, logger: false });
    addFormats.default(this.ajv);
    this.ajv.addSchema(document, 'openapi');
  }

  /** Notes that what is fetched in `act` belongs to an operation. */
  async during(id, act) {
    this.#current = id;
    this.called.add(id);
    try {
      return await act();
    } finally {
      if (this.#wrong) throw this.#wrong;
    }
  }

  fetch = async (url, init) => {
    const response = await fetch(url, init);
    // A client would take what is thrown here for a broken connection, and try again.
    await this.#answer(this.#current, response).catch((error) => (this.#wrong ??= error));
    return response;
  };

  async #answer(id, response) {
    const { method, path } = operations[id];
    const { responses } = this.document.paths[path][method.toLowerCase()];
    const status = String(response.status) in responses ? String(response.status) : 'default';
    const kind = response.headers.get('Content-Type').split(';')[0];
    const documented = Object.keys(responses[status].content ?? {});
    const wanted = documented.find((one) => matches(one, kind));
    assert.ok(wanted !== undefined, `${id}: ${status} with ${kind} is not documented, ${documented} is`);
    assert.ok(status !== 'default' || response.status >= 400, `${id}: ${response.status} is not documented`);
    if (kind === 'application/json') {
      const pointer = ['paths', path, method.toLowerCase(), 'responses', status, 'content', wanted, 'schema'];
      this.#validate(id, pointer, await response.clone().json());
    }
    this.answers += 1;
  }

  message(id, message) {
    const { method, path } = operations[id];
    this.#validate(id, ['paths', path, method.toLowerCase(), 'x-forge-message'], message);
    this.messages += 1;
  }

  #validate(id, pointer, value) {
    const at = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    const valid = this.ajv.getSchema(`openapi#/${at}`);
    assert.ok(valid, `no schema at ${at}`);
    assert.ok(valid(value), `${id}: ${this.ajv.errorsText(valid.errors)} in ${JSON.stringify(value).slice(0, 2000)}`);
  }
}

function matches(pattern, kind) {
  return pattern === kind || pattern === '*/*' || (pattern.endsWith('/*') && kind.startsWith(pattern.slice(0, -1)));
}
