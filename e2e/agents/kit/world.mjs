// A world of its own for one CLI: data, home, repository, and a Forge that serves them. Nothing of the person's is read
// or written, and nothing that was started in it outlives it.

import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

import { Forge } from "./forge.mjs";
import { isBelow, kill, processes } from "./processes.mjs";
import { SOON_MS } from "./wait.mjs";

const BUILT_IN = new URL("../../../crates/engine/profiles.json", import.meta.url);

export class World {
  constructor({ cli, root, installed, forge, model }) {
    this.cli = cli;
    this.root = `${root}/${cli.name}`;
    this.installed = installed;
    this.model = model;
    this.home = `${this.root}/home`;
    this.data = `${this.root}/data`;
    this.repository = `${this.root}/shop`;
    const bin = `${this.root}/bin`;
    for (const dir of [this.home, this.data, `${this.root}/tmp`, bin, this.repository]) mkdirSync(dir, { recursive: true });
    // The binary may be called otherwise, and people call it by its name.
    symlinkSync(forge, `${bin}/forge`);
    const env = {
      PATH: [...installed.path, bin, process.env.PATH].join(":"),
      HOME: this.home,
      TMPDIR: `${this.root}/tmp`,
      FORGE_HOME: this.data,
      GIT_CONFIG_NOSYSTEM: "1",
      LANG: "C.UTF-8",
      TERM: "dumb",
      DISABLE_BROWSER_OPEN: "1",
      CI: "1",
    };
    this.env = env;
    this.forge = new Forge({ binary: forge, dir: this.root, env });
  }

  async begin() {
    this.#write(`${this.home}/.gitconfig`, "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n");
    for (const [path, content] of Object.entries(this.cli.files?.(this) ?? {})) {
      this.#write(`${this.home}/${path}`, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    }
    this.#write(`${this.data}/profiles.json`, JSON.stringify({ executors: { [this.cli.agent]: this.#variants() } }, null, 2));
    this.#write(`${this.repository}/README.md`, "# A shop\n");
    this.git("init", "--quiet");
    this.git("add", ".");
    this.git("commit", "--quiet", "--message", "begin");
    await this.forge.start();
    const project = await this.forge.post("/api/projects", {
      name: "shop",
      git_repo_path: this.repository,
      use_existing_repo: true,
    });
    this.project = project.id;
  }

  git(...args) {
    return execFileSync("git", args, { cwd: this.repository, env: this.env, encoding: "utf8" });
  }

  /** Runs a program as a person does who stands in the repository, and returns what it printed. */
  async run(program, args) {
    const env = { ...this.env, ...this.cli.env?.(this) };
    const running = promisify(execFile)(program, args, { cwd: this.repository, env, timeout: SOON_MS, maxBuffer: 1 << 26 });
    running.child.stdin.end();
    return (await running).stdout;
  }

  /** The processes of the CLI, and whatever else was started by a run here. */
  left() {
    const own = this.forge.pid;
    return processes(({ pid, environ, cwd, command, exe }) => {
      if (pid === own) return false;
      return (
        environ.includes(`FORGE_HOME=${this.data}`) ||
        isBelow(cwd, this.root) ||
        command.includes(this.root) ||
        this.installed.dirs.some((dir) => command.includes(`${dir}/`) || isBelow(exe, dir))
      );
    });
  }

  async end({ keep }) {
    await this.forge.stop();
    for (const { pid } of this.left()) kill(pid);
    if (!keep) rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  /** The built-in variants, and those of the test, with what this CLI needs to find the model. */
  #variants() {
    const own = this.cli.variants ?? {};
    const builtIn = JSON.parse(readFileSync(BUILT_IN, "utf8")).executors[this.cli.agent] ?? {};
    const env = this.cli.env?.(this) ?? {};
    return Object.fromEntries(
      [...new Set([...Object.keys(builtIn), ...Object.keys(own)])].map((name) => {
        const settings = { ...builtIn[name]?.[this.cli.agent], ...own[name], env: { ...env, ...own[name]?.env } };
        return [name, { [this.cli.agent]: settings }];
      }),
    );
  }

  #write(path, content) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}
