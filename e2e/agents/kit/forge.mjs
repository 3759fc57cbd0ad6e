// A real `forge serve` as a process that can be killed and started again, and its API.

import { spawn } from "node:child_process";
import { openSync, closeSync } from "node:fs";
import { createServer } from "node:net";

import { eventually } from "./wait.mjs";

export class Forge {
  #binary;
  #env;
  #dir;
  #child;
  #port;

  constructor({ binary, dir, env }) {
    this.#binary = binary;
    this.#dir = dir;
    this.#env = env;
  }

  get pid() {
    return this.#child?.pid;
  }

  /** Starts the server and waits until it answers. */
  async start() {
    this.#port ??= await freePort();
    const log = openSync(`${this.#dir}/server.log`, "a");
    this.#child = spawn(this.#binary, ["serve", "--port", String(this.#port)], {
      cwd: this.#dir,
      env: this.#env,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    const child = this.#child;
    await eventually("the server answers", async () => {
      if (child.exitCode !== null) throw new Error(`forge serve ended with ${child.exitCode}; see ${this.#dir}/server.log`);
      return fetch(`http://127.0.0.1:${this.#port}/health`).then((answer) => answer.ok, () => false);
    });
  }

  /** Kills the server as a power cut would. */
  async kill() {
    const gone = new Promise((done) => this.#child.once("exit", done));
    this.#child.kill("SIGKILL");
    await gone;
  }

  /** Ends the server; what runs goes on. */
  async stop() {
    if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = new Promise((done) => this.#child.once("exit", done));
    this.#child.kill("SIGTERM");
    await gone;
  }

  get(path) {
    return this.call("GET", path);
  }

  post(path, body = {}) {
    return this.call("POST", path, body);
  }

  /** Makes a call that must succeed, and returns its data. */
  async call(method, path, body) {
    const answer = await fetch(`http://127.0.0.1:${this.#port}${path}`, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const told = await answer.json();
    if (!answer.ok || told.success !== true) {
      throw new Error(`${method} ${path} answers ${answer.status}: ${JSON.stringify(told)}`);
    }
    return told.data;
  }
}

function freePort() {
  return new Promise((done, failed) => {
    const server = createServer();
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}
