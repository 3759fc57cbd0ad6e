// The same acts by plain requests and by the client leave the same behind.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ForgeClient } from '../dist/index.js';
import { eventually, makeRepository, startForge } from './server.mjs';

test('the same scenario through plain requests and through the client leaves the same rows', async (t) => {
  const left = [];
  for (const how of [byRequests, byClient]) {
    const forge = await startForge(t);
    await scenario(how(forge.baseUrl), makeRepository(forge.dir));
    left.push(await everything(forge));
  }
  assert.ok(left[0].attempts.length === 2 && left[0].processes.length === 3, JSON.stringify(left[0]));
  assert.deepEqual(left[1], left[0]);
});

async function scenario(forge, repository) {
  await forge.updateConfig({ theme: 'LIGHT' });
  const project = await forge.createProject({ name: 'demo', git_repo_path: repository, use_existing_repo: true });
  await forge.updateProject(project.id, { setup_script: null, copy_files: 'README.md' });
  const tag = await forge.createTag({ tag_name: 'kept', content: 'a "quoted" ü\n' });
  await forge.updateTag(tag.id, { content: 'changed' });
  await forge.deleteTag((await forge.createTag({ tag_name: 'gone', content: 'x' })).id);
  await forge.createTaskTemplate({ template_name: 'fix', title: 'Fix', project_id: project.id });
  const task = await forge.createTask({ project_id: project.id, title: 'First', description: 'say one' });
  await forge.updateTask(task.id, { title: 'The first', description: 'edit one.txt 1' });
  const first = await forge.createTaskAttempt({ task_id: task.id, executor_profile_id: { executor: 'SCRIPTED' }, base_branch: 'main' });
  await forge.over(first.id);
  const second = await forge.createAndStartTask({
    task: { project_id: project.id, title: 'Second', description: 'say two' },
    executor_profile_id: { executor: 'scripted', variant: 'GENIE' },
    base_branch: 'main',
  });
  await forge.over(second.attempt_id);
  await forge.followUp(second.attempt_id, { prompt: 'say three\nhang' });
  await forge.stopTaskAttempt(second.attempt_id);
  await forge.over(second.attempt_id);
  await forge.deleteTask((await forge.createTask({ project_id: project.id, title: 'Gone' })).id);
}

/** Whether nothing more is told of an attempt: what it changed is added up in the background, and comes last. */
function isOver({ state, files_changed }) {
  return ['finished', 'failed', 'stopped'].includes(state) && files_changed !== null;
}

function byClient(baseUrl) {
  const client = new ForgeClient({ baseUrl });
  const over = (id) => eventually(async () => isOver(await client.getTaskAttempt(id)));
  return Object.assign(client, { over });
}

/** The requests that a person with curl would send. */
function byRequests(baseUrl) {
  const send = async (method, path, body) => {
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
    const { success, data, message } = await (await fetch(`${baseUrl}/api${path}`, init)).json();
    assert.ok(success, message);
    return data;
  };
  return {
    updateConfig: (body) => send('PUT', '/config', body),
    createProject: (body) => send('POST', '/projects', body),
    updateProject: (id, body) => send('PUT', `/projects/${id}`, body),
    createTag: (body) => send('POST', '/tags', body),
    updateTag: (id, body) => send('PUT', `/tags/${id}`, body),
    deleteTag: (id) => send('DELETE', `/tags/${id}`),
    createTaskTemplate: (body) => send('POST', '/templates', body),
    createTask: (body) => send('POST', '/tasks', body),
    updateTask: (id, body) => send('PUT', `/tasks/${id}`, body),
    deleteTask: (id) => send('DELETE', `/tasks/${id}`),
    createTaskAttempt: (body) => send('POST', '/task-attempts', body),
    createAndStartTask: (body) => send('POST', '/tasks/create-and-start', body),
    followUp: (id, body) => send('POST', `/task-attempts/${id}/follow-up`, body),
    stopTaskAttempt: (id) => send('POST', `/task-attempts/${id}/stop`),
    over: (id) => eventually(async () => isOver(await send('GET', `/task-attempts/${id}`))),
  };
}

/** Everything that can be read, with what is different each time made the same. */
async function everything({ baseUrl, dir }) {
  const read = async (path) => (await (await fetch(`${baseUrl}/api${path}`)).json()).data;
  const projects = await read('/projects');
  const each = async (items, path) => (await Promise.all(items.map(({ id }) => read(`${path}${id}`)))).flat();
  const attempts = await read('/task-attempts');
  const all = {
    config: await read('/config'),
    tags: await read('/tags'),
    templates: await read('/templates'),
    projects,
    branches: await Promise.all(projects.map(({ id }) => read(`/projects/${id}/branches`))),
    tasks: await each(projects, '/tasks?project_id='),
    attempts,
    processes: await each(attempts, '/execution-processes?task_attempt_id='),
  };
  // Branches are listed by their last commit, and two commits may fall into one second.
  for (const list of all.branches) list.sort((a, b) => (word(a.name) < word(b.name) ? -1 : 1));
  const names = new Map();
  const named = (kind, text) => {
    if (!names.has(text)) names.set(text, `<${kind} ${names.size}>`);
    return names.get(text);
  };
  const plain = JSON.stringify(all)
    .replaceAll(dir, '<dir>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (text) => named('id', text))
    .replace(/\b[0-9a-f]{40}\b/g, (text) => named('commit', text))
    .replace(/scripted-\d+-\d+/g, (text) => named('session', text))
    .replace(/(forge|worktrees)\/[0-9a-f]{4}-/g, '$1/<hex>-');
  return JSON.parse(plain);
}

/** A branch's name without the digits that are drawn for it. */
function word(name) {
  return name.replace(/[0-9a-f]{4}-/, '');
}
