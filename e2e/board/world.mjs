// The world of a journey: a real server with a home of its own, a real repository, and a tab in a real browser.
// Whatever a page does wrong on the way (an error, a refused script, a request to elsewhere) fails the journey.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The forge that is tried: FORGE_BIN, or the debug build. */
export const FORGE = resolve(process.env.FORGE_BIN ?? join(here, '../../target/debug/forge'));
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
/** Waits end when what is waited for has happened; this only bounds a failure. */
export const PATIENCE = 30_000;

/** The browser of this process. Worlds share it, because each tab has a context of its own and a start takes a second. */
let browser = null;

async function sharedBrowser() {
  // A browser that crashed or did not start fails one journey, not those after it.
  const last = await browser?.catch(() => null);
  if (!last?.isConnected()) {
    browser = chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  }
  return browser;
}

/** Ends the browser that the worlds of this process shared, if there is one. */
export async function endBrowser() {
  const last = await browser?.catch(() => null);
  browser = null;
  await last?.close();
}

export class World {
  /** Starts a server with an empty home. */
  static async start() {
    const world = new World();
    world.directory = mkdtempSync(join(tmpdir(), 'forge-board-'));
    world.home = join(world.directory, 'home');
    world.tabs = [];
    await world.serve();
    return world;
  }

  /** Starts the server, or starts it again on the same port and home; `environment` is added to what it has. */
  async serve() {
    this.server = spawn(FORGE, ['serve', '--port', String(this.port ?? 0)], {
      env: { ...process.env, ...this.environment, FORGE_HOME: this.home, FORGE_WORKTREES: join(this.directory, 'worktrees'), HOME: this.directory },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.output = '';
    for (const stream of [this.server.stdout, this.server.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text) => { this.output += text; });
    }
    this.base = await until('the server to say its address', () => {
      if (this.server.exitCode !== null) throw new Error(`forge serve ended: ${this.output}`);
      return this.output.match(/https?:\/\/127\.0\.0\.1:\d+/)?.[0];
    });
    this.port = Number(new URL(this.base).port);
    await until('the server to answer', () => fetch(`${this.base}/api/health`).then((r) => r.ok, () => false));
    // While the board is worked on, FORGE_E2E_FRONT names a module whose `front(base)` stands before the server and
    // gives out another build; its address is the answer.
    const { FORGE_E2E_FRONT } = process.env;
    this.front ??= FORGE_E2E_FRONT ? await (await import(FORGE_E2E_FRONT)).front(this.base) : this.base;
  }

  /** Ends the server as a power cut would. Agents keep running. */
  async kill() {
    const ended = once(this.server, 'exit');
    this.server.kill('SIGKILL');
    await ended;
  }

  async end() {
    for (const tab of this.tabs) await tab.close();
    // Agents that still run are ended by their server, by name, also when it was killed; then the server itself.
    if (this.server.exitCode !== null || this.server.signalCode !== null) await this.serve();
    for (const attempt of await this.get('/task-attempts').catch(() => [])) {
      if (['running', 'waiting', 'queued'].includes(attempt.state)) await this.post(`/task-attempts/${attempt.id}/stop`).catch(() => {});
    }
    const ended = once(this.server, 'exit');
    this.server.kill('SIGTERM');
    await ended;
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  async call(method, path, body) {
    const response = await fetch(`${this.base}/api${path}`, {
      method,
      headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const answer = await response.json();
    if (!answer.success) throw Object.assign(new Error(`${method} ${path}: ${answer.message}`), { status: response.status });
    return answer.data;
  }
  get(path) { return this.call('GET', path); }
  post(path, body = {}) { return this.call('POST', path, body); }
  put(path, body) { return this.call('PUT', path, body); }

  /** Makes a repository with one commit and a project for it. */
  async project(name = 'shop', files = { 'README.md': '# Shop\n', 'src/server.js': 'export const port = 80;\n' }) {
    const path = join(this.directory, name);
    mkdirSync(path);
    const git = (...args) => execFileSync('git', ['-C', path, ...args], { stdio: 'pipe', encoding: 'utf8' });
    git('init', '-q', '-b', 'main');
    git('config', 'user.name', 'A Person');
    git('config', 'user.email', 'person@example.invalid');
    const write = (file, text) => {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), text);
    };
    for (const [file, text] of Object.entries(files)) write(file, text);
    git('add', '-A');
    git('commit', '-qm', 'first');
    const project = await this.post('/projects', { name, git_repo_path: path, use_existing_repo: true });
    return { ...project, path, git, write };
  }

  task(project, title, description = '') {
    return this.post('/tasks', { project_id: project.id, title, description });
  }

  /** Creates a task whose attempt plays a script, and starts it. */
  async start(project, title, script) {
    const task = await this.task(project, title, script);
    const attempt = await this.post('/task-attempts', {
      task_id: task.id,
      executor_profile_id: { executor: 'SCRIPTED', variant: null },
      base_branch: 'main',
    });
    return { task, attempt };
  }

  attempt(id) { return this.get(`/task-attempts/${id}`); }

  /** Waits until an attempt is in one of the states. */
  settled(id, ...states) {
    return until(`attempt ${id} to be ${states.join(' or ')}`, async () => {
      const attempt = await this.attempt(id);
      return states.includes(attempt.state) && attempt;
    });
  }

  /** Opens a tab. `options` are the browser context's: viewport, colorScheme, hasTouch... */
  async open(path = '/', options = {}) {
    const browser = await sharedBrowser();
    const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, baseURL: this.front, ...options });
    const page = await context.newPage();
    const tab = new Tab(this, context, page);
    this.tabs.push(tab);
    if (path === 'about:blank') return tab;
    await page.goto(path);
    await page.waitForFunction(() => document.documentElement.dataset.ready === 'true', null, { timeout: PATIENCE });
    return tab;
  }
}

/** A tab, and what went wrong in it. */
export class Tab {
  constructor(world, context, page) {
    Object.assign(this, { world, context, page, faults: [], refused: [], expected: new Set() });
    page.setDefaultTimeout(PATIENCE);
    page.on('pageerror', (error) => this.faults.push(`page error: ${error.message}`));
    page.on('console', (message) => {
      const text = message.text();
      if (/Content Security Policy|Trusted ?Types|TrustedHTML|TrustedScript/i.test(text)) this.faults.push(`policy: ${text}`);
      // An absent server is reported by the browser itself, a refusal below; everything else that is an error is ours.
      else if (message.type() === 'error' && !/Failed to load resource|WebSocket connection|error occurred when fetching the script/.test(text)) this.faults.push(`console: ${text}`);
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      const isOurs = url.origin === new URL(world.front).origin || ['data:', 'blob:'].includes(url.protocol);
      const isPreview = url.hostname.endsWith('.localhost') && request.frame() !== page.mainFrame();
      if (!isOurs && !isPreview) this.faults.push(`request to elsewhere: ${request.url()}`);
    });
    page.on('response', async (response) => {
      const { host, pathname } = new URL(response.url());
      const status = response.status();
      if (host !== new URL(world.front).host || status < 400) return;
      // What a journey answers itself comes from no server.
      if ((await response.serverAddr().catch(() => null)) === null) return;
      const what = `${response.request().method()} ${pathname}`;
      // What is written while the queue has the draft is refused there, and kept by the browser.
      if (!(status === 409 && /^PUT .*\/draft$/.test(what))) this.refused.push({ status, what });
    });
    this.#countSockets();
  }

  /** A page has one socket, whatever it follows. */
  #countSockets() {
    const sockets = new Set();
    // Those of a page that is left go with it, when the next one is there.
    let isLeaving = false;
    this.page.on('request', (request) => { isLeaving ||= request.isNavigationRequest() && request.frame() === this.page.mainFrame(); });
    this.page.on('framenavigated', (frame) => {
      if (frame !== this.page.mainFrame() || !isLeaving) return;
      sockets.clear();
      isLeaving = false;
    });
    this.page.on('websocket', (socket) => {
      if (new URL(socket.url()).host !== new URL(this.world.front).host) return;
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      if (sockets.size > 1) this.faults.push(`${sockets.size} sockets at once: ${[...sockets].map((it) => it.url()).join(', ')}`);
    });
  }

  /** The server will refuse something with one of these answers, as the journey wants it to. */
  expects(...statuses) {
    for (const status of statuses) this.expected.add(status);
  }

  /** A part of the page will fail with words like these, as the journey wants it to. */
  expectsFault(words) {
    this.expectedFault = words;
  }

  /** Fails when the page did something wrong since it was opened. */
  check() {
    const unexpected = this.refused.filter(({ status }) => !this.expected.has(status));
    const faults = this.faults.filter((fault) => !this.expectedFault?.test(fault));
    assert.deepEqual([...faults, ...unexpected.map(({ status, what }) => `${status} for ${what}`)], []);
  }

  /** Fails when axe finds something serious on the page as it is now. */
  async accessible() {
    // axe is evaluated by the debugger, which the page's policy does not bind.
    await this.page.evaluate(AXE);
    // Whoever speaks to the browser says what they read, so a name holds the words that are drawn. axe leaves that off by itself.
    const { violations } = await this.page.evaluate(() => window.axe.run(document, {
      resultTypes: ['violations'],
      rules: { 'label-content-name-mismatch': { enabled: true } },
    }));
    const serious = violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target.join(' ')} (${node.failureSummary})`).join('; ')}`);
    assert.deepEqual(serious, []);
  }

  /** Fails when a button on the page has no name. */
  async named() {
    const nameless = await this.page.getByRole('button').evaluateAll((buttons) =>
      buttons.filter((it) => !(it.getAttribute('aria-label') || it.textContent.trim())).map((it) => it.outerHTML));
    assert.deepEqual(nameless, []);
  }

  async close() {
    await this.context.close();
  }
}

/** Asks until the answer is true, and gives it back. */
export async function until(what, ask) {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${PATIENCE / 1000} s for ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
