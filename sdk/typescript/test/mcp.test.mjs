// The official clients of the Model Context Protocol, in TypeScript and in Python, against the real server: over HTTP at
// `/mcp`, and over the standard streams of `forge mcp`.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { binary, makeRepository, startForge } from './server.mjs';

const transports = {
  http: (forge) => new StreamableHTTPClientTransport(new URL('/mcp', forge.baseUrl)),
  stdio: (forge) => new StdioClientTransport(bridge(forge)),
};

/** How an IDE starts the bridge. */
function bridge(forge) {
  const env = { PATH: process.env.PATH, HOME: forge.home, CI: '1' };
  return { command: binary, args: ['mcp', '--data', join(forge.dir, 'data')], env, cwd: forge.dir };
}

for (const [name, transport] of Object.entries(transports)) {
  test(`the TypeScript client connects, lists and calls over ${name}`, async (t) => {
    const forge = await startForge(t);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport(forge));
    t.after(() => client.close());
    const { tools } = await client.listTools();
    assert.ok(tools.some((tool) => tool.name === 'create_and_start_task' && tool.outputSchema), JSON.stringify(tools));
    // The client checks what is answered against the output schema.
    const call = async (tool, args) => {
      const result = await client.callTool({ name: tool, arguments: args });
      assert.ok(!result.isError, JSON.stringify(result));
      assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
      return result.structuredContent;
    };
    const { project_id } = await call('create_project', { name: 'demo', git_repo_path: makeRepository(forge.dir) });
    const { attempt_id } = await call('create_and_start_task', {
      project_id,
      task: { title: 'Say it', description: 'say hello from a tool' },
      executor: 'SCRIPTED',
    });
    const waited = await call('wait_for_attempt', { attempt_id });
    assert.equal(waited.last_message, 'hello from a tool');
    const refused = await client.callTool({ name: 'get_task', arguments: { task_id: 'banana' } });
    assert.ok(refused.isError && refused.content[0].text.includes('`task_id`'), JSON.stringify(refused));
  });
}

test('the Python client connects, lists and calls over both', async (t) => {
  const forge = await startForge(t);
  const { command, args, env, cwd } = bridge(forge);
  const settings = JSON.stringify({
    url: new URL('/mcp', forge.baseUrl).href,
    bridge: { command, args, env, cwd },
    repositories: [makeRepository(forge.dir, 'one'), makeRepository(forge.dir, 'two')],
  });
  const script = fileURLToPath(new URL('mcp_client.py', import.meta.url));
  const ran = spawnSync(join(python(), 'bin', 'python'), [script, settings], { encoding: 'utf8', timeout: 240_000 });
  assert.equal(ran.status, 0, `${ran.stdout}\n${ran.stderr}`);
  assert.match(ran.stdout, /http: done\n(.*\n)*stdio: done/);
});

/** Returns a virtual environment with the pinned client, made once and kept outside the repository. */
function python() {
  const requirements = fileURLToPath(new URL('mcp_requirements.txt', import.meta.url));
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'forge-mcp-python');
  const place = join(cache, hash);
  if (existsSync(place)) return place;
  const making = `${place}.${process.pid}`;
  mkdirSync(cache, { recursive: true });
  const usable = ['/usr/bin/python3', 'python3'].find(
    (program) => spawnSync(program, ['-c', 'import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 10))']).status === 0,
  );
  assert.ok(usable, 'this test needs python3 with venv, from version 3.10 on');
  try {
    execFileSync(usable, ['-m', 'venv', '--copies', making], { stdio: 'pipe' });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--requirement', requirements];
    execFileSync(join(making, 'bin', 'python'), pip, { stdio: 'pipe' });
    renameSync(making, place);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return place;
}
