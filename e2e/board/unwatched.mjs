// A browser that nobody watches: it opens pages, and hears the one word that each page says itself. A driver is told of
// every request and of every message of a socket, and that takes the page's time; a person's browser has no driver.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHROMIUM, PATIENCE } from './world.mjs';

/** What a page calls to say it. */
const WORD = 'sayShown';

/** Called in the page: says when an element that ends with a text is drawn, in milliseconds since the page was asked for. */
function sayWhenShown(selector, ending, word) {
  const look = () => {
    const elements = [...document.querySelectorAll(selector)];
    if (!elements.some((element) => element.textContent.trimEnd().endsWith(ending))) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => window[word](String(performance.now()))));
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { childList: true, subtree: true, characterData: true });
  addEventListener('DOMContentLoaded', look);
}

export class Unwatched {
  #process;
  #directory;
  #calls = new Map();
  #told = new Map();
  #last = 0;

  static async start() {
    const browser = new Unwatched();
    browser.#directory = mkdtempSync(join(tmpdir(), 'forge-browser-'));
    browser.#process = spawn(CHROMIUM, [
      '--headless', '--no-sandbox', '--disable-dev-shm-usage', '--remote-debugging-pipe', '--window-size=1400,900',
      '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
      `--user-data-dir=${browser.#directory}`,
    ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    browser.#listen(browser.#process.stdio[4]);
    await browser.#call('Browser.getVersion');
    return browser;
  }

  /** Opens a page in a profile that knows nothing of it, and answers after how many milliseconds it was shown. */
  async open(url, [selector, ending]) {
    const { browserContextId } = await this.#call('Target.createBrowserContext');
    const { targetId } = await this.#call('Target.createTarget', { url: 'about:blank', browserContextId });
    const { sessionId } = await this.#call('Target.attachToTarget', { targetId, flatten: true });
    const call = (method, params) => this.#call(method, params, sessionId);
    await call('Page.enable');
    await call('Runtime.enable');
    await call('Runtime.addBinding', { name: WORD });
    const args = [selector, ending, WORD].map((text) => JSON.stringify(text)).join(', ');
    await call('Page.addScriptToEvaluateOnNewDocument', { source: `(${sayWhenShown})(${args})` });
    // What the browser does for a new tab is not the page's. One that is never idle, as some are not, is waited for no longer.
    const idle = 'new Promise((done) => { requestIdleCallback(() => done(), { timeout: 500 }); })';
    await call('Runtime.evaluate', { expression: idle, awaitPromise: true });
    const told = this.#word(sessionId, url);
    await call('Page.navigate', { url });
    const shown = Math.round(Number(await told));
    await this.#call('Target.disposeBrowserContext', { browserContextId });
    return shown;
  }

  async end() {
    const ended = once(this.#process, 'exit');
    this.#call('Browser.close').catch(() => {});
    await ended;
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 });
  }

  #word(sessionId, url) {
    return new Promise((tell, fail) => {
      const late = setTimeout(() => fail(new Error(`waited ${PATIENCE / 1000} s for ${url}`)), PATIENCE);
      this.#told.set(sessionId, (word) => { clearTimeout(late); tell(word); });
    });
  }

  #call(method, params = {}, sessionId = undefined) {
    this.#last += 1;
    const id = this.#last;
    this.#process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((done, fail) => { this.#calls.set(id, { method, done, fail }); });
  }

  #listen(stream) {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (text) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop();
      for (const message of messages) this.#hear(JSON.parse(message));
    });
  }

  #hear({ id, method, params, sessionId, result, error }) {
    if (method === 'Runtime.bindingCalled' && params.name === WORD) this.#told.get(sessionId)?.(params.payload);
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error) call?.fail(new Error(`${call.method}: ${error.message}`));
    else call?.done(result);
  }
}
