// The real server: the forge binary on a free port, with a data directory, a home and a repository of its own.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Nothing here takes long, but the machine may be busy. */
const SOON = 60_000;

const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../../target', import.meta.url));
export const binary = process.env.FORGE_BINARY ?? join(target, 'debug', 'forge');

/** Starts a server, and ends it and all its agents with the test; `settings` go into its environment. */
export async function startForge(t, settings = {}) {
  if (!existsSync(binary)) throw new Error(`${binary} is missing: run \`cargo build -p forge\` first, or set FORGE_BINARY`);
  const dir = mkdtempSync(join(tmpdir(), 'forge-sdk-'));
  const data = join(dir, 'data');
  const home = join(dir, 'home');
  mkdirSync(home);
  // Nothing of the person's is read or changed, and nothing outside is reached.
  const nowhere = 'http://127.0.0.1:1';
  const env = { PATH: process.env.PATH, HOME: home, GITHUB_BASE_URL: nowhere, GITHUB_API_URL: nowhere, ...settings };
  let server = await serve(data, env, '0');
  t.after(async () => {
    // Agents outlive their server by design, so a test ends its own.
    execFileSync(binary, ['serve', '--stop', '--all', '--data', data], { env, stdio: 'ignore' });
    await server.ended;
    rmSync(dir, { recursive: true, force: true });
  });
  const { baseUrl } = server;
  return {
    baseUrl,
    dir,
    home,
    token: () => readFileSync(join(data, 'token'), 'utf8').trim(),
    /** Kills the server as a power cut would, and starts another in its place. */
    async replace() {
      server.child.kill('SIGKILL');
      await server.ended;
      server = await serve(data, env, new URL(baseUrl).port);
    },
  };
}

async function serve(data, env, port) {
  const child = spawn(binary, ['serve', '--port', port, '--data', data], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (piece) => (said += piece));
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const baseUrl = await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`the server ended: ${said}`);
    const { pid, url } = JSON.parse(readFileSync(join(data, 'server.json'), 'utf8'));
    return pid === child.pid && (await fetch(`${url}/health`)).ok ? url : undefined;
  }, { patient: () => child.exitCode === null });
  return { child, ended, baseUrl };
}

/** Makes a repository with one commit. */
export function makeRepository(dir, name = 'repository') {
  const path = join(dir, name);
  const git = (...args) => execFileSync('git', ['-C', path, ...args], { stdio: 'pipe' });
  mkdirSync(path);
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.org');
  writeFileSync(join(path, 'README.md'), 'hello\n');
  git('add', 'README.md');
  git('commit', '--quiet', '--message=first');
  return path;
}

/** Waits until a condition gives something, with a deadline. */
export async function eventually(condition, { patient = () => false } = {}) {
  const begun = Date.now();
  for (;;) {
    let last;
    try {
      const met = await condition();
      if (met !== undefined && met !== false) return met;
    } catch (error) {
      if (!patient()) throw error;
      last = error;
    }
    if (Date.now() - begun > SOON) throw new Error('the condition was not met in time', { cause: last });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
