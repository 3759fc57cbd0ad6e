// The matrix of CLIs and scenarios: plays the cells, two CLIs at a time, and prints what became of each.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";

import { CACHE, install } from "./install.mjs";
import { Cell, NotOffered } from "./kit/cell.mjs";
import { trimmed } from "./kit/trim.mjs";
import { within } from "./kit/wait.mjs";
import { World } from "./kit/world.mjs";
import { Model } from "./model/server.mjs";
import * as allowed from "./scenarios/allowed.mjs";
import * as denied from "./scenarios/denied.mjs";
import * as fails from "./scenarios/fails.mjs";
import * as interrupted from "./scenarios/interrupted.mjs";
import * as limited from "./scenarios/limited.mjs";
import * as plan from "./scenarios/plan.mjs";
import * as recovers from "./scenarios/recovers.mjs";
import * as remembers from "./scenarios/remembers.mjs";
import * as restart from "./scenarios/restart.mjs";
import * as unauthorized from "./scenarios/unauthorized.mjs";
import * as writes from "./scenarios/writes.mjs";

const SCENARIOS = [
  writes, fails, allowed, denied, plan, remembers, interrupted, unauthorized, limited, recovers, restart,
];

/** The longest that a cell may take. Most take a few seconds; some CLIs take ten to start, and a minute on a busy machine. */
const CELL_MS = 120_000;

/** As many CLIs at a time as a small machine has cores. */
const AT_ONCE = 2;

/** Plays everything; says whether no cell failed. */
export async function play({ clis, forge, options }) {
  const scenarios = SCENARIOS.filter(chosen(options));
  const root = `${CACHE}/worlds/${process.pid}`;
  mkdirSync(root, { recursive: true });
  const rows = new Map();
  const worlds = new Set();
  endWhenTold(worlds);
  const waiting = [...clis];
  const begun = Date.now();
  const worker = async () => {
    for (let cli = waiting.shift(); cli; cli = waiting.shift()) {
      rows.set(cli.name, await row({ cli, scenarios, root, forge, options, worlds }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  if (!options.keep) rmSync(root, { recursive: true, force: true });
  return tell(clis, scenarios, rows, options, (Date.now() - begun) / 1000);
}

const chosen = ({ scenario: names }) => ({ name }) => !names || names.split(",").includes(name);

/** What only this CLI has. */
const extras = (cli, options) => (cli.extras ?? []).filter(chosen(options));

/** Ends the worlds when a person or a job's time limit ends this; agents would go on otherwise. */
function endWhenTold(worlds) {
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, async () => {
      await Promise.allSettled([...worlds].map((world) => world.end({ keep: false })));
      process.exit(1);
    });
  }
}

async function row({ cli, scenarios, root, forge, options, worlds }) {
  const installed = install(cli);
  const model = await Model.start();
  const world = new World({ cli, root, installed, forge, model });
  const cells = [];
  worlds.add(world);
  try {
    await world.begin();
    for (const scenario of [...scenarios, ...extras(cli, options)]) {
      const cell = new Cell({ world, scenario });
      const begun = Date.now();
      const result = await outcome(cell, scenario);
      const seconds = (Date.now() - begun) / 1000;
      cells.push({ ...result, seconds });
      console.log(`${cli.name.padEnd(9)} ${scenario.name.padEnd(13)} ${seconds.toFixed(1).padStart(5)} s  ${result.what}`);
      if (result.why) console.log(result.why.replace(/^/gm, "    "));
      await keepRecordings(cell, scenario, world, options);
      await clear(cell);
    }
    const strays = model.strays();
    if (strays.length > 0) {
      console.log(`${cli.name}: requests that no script knows:\n${strays.map((one) => `    ${JSON.stringify(one).slice(0, 600)}`).join("\n")}`);
      cells.push({ what: "failed", seconds: 0 });
    }
  } finally {
    await world.end(options);
    worlds.delete(world);
    await model.stop();
  }
  return { version: installed.version, cells };
}

async function outcome(cell, scenario) {
  try {
    await within(scenario.title, CELL_MS, scenario.play(cell));
    await cell.check();
    return { what: "ok" };
  } catch (error) {
    if (error instanceof NotOffered) return { what: "not offered", why: error.message };
    return { what: "failed", why: `${error.stack ?? error}\n${told(cell)}` };
  }
}

/** What the model was asked in a cell, for whoever must find out why it failed. */
function told(cell) {
  const asked = cell.model.log.filter((one) => one.script?.startsWith(`${cell.cli.name}-${cell.scenario.name}`));
  const lines = asked.map((one) => `request ${one.n}: place ${one.place}, ${one.answer}${one.hungUp ? ", hung up" : ""}`);
  return [...lines, ...cell.attempts.map((id) => `attempt ${id}`)].join("\n");
}

/** Ends whatever a failed cell left running, so that the next one is judged by itself. */
async function clear(cell) {
  for (const id of cell.attempts) {
    await cell.forge.post(`/api/task-attempts/${id}/stop`).catch(() => {});
  }
}

/** Writes what the agents of a cell and Forge said to each other, as fixtures. */
async function keepRecordings(cell, scenario, world, { record }) {
  if (!record) return;
  const dir = `${record}/${cell.cli.name}`;
  mkdirSync(dir, { recursive: true });
  for (const id of cell.attempts) {
    const attempt = await cell.attempt({ id });
    const names = [[attempt.container_ref, "/repo"], [world.home, "/home/dev"], [world.root, "/world"], [CACHE, "/cache"], [world.model.url, "http://127.0.0.1:1"]];
    const recordings = await cell.recordings(attempt);
    recordings.forEach((lines, at) => {
      const name = recordings.length > 1 ? `${scenario.name}-${at + 1}` : scenario.name;
      writeFileSync(`${dir}/${name}.jsonl`, trimmed(lines, names).map((line) => `${JSON.stringify(line)}\n`).join(""));
    });
  }
}

/** Prints the matrix; says whether no cell failed. */
function tell(clis, scenarios, rows, options, seconds) {
  const MARKS = { ok: "ok", failed: "FAILED", "not offered": "-" };
  const wide = Math.max(...scenarios.map(({ title }) => title.length));
  const columns = clis.map(({ name }) => `${name} ${rows.get(name).version}`);
  console.log(`\n${"".padEnd(wide)}  ${columns.join("  ")}`);
  scenarios.forEach(({ title }, at) => {
    const marks = clis.map(({ name }, column) => MARKS[rows.get(name).cells[at]?.what ?? "failed"].padEnd(columns[column].length));
    console.log(`${title.padEnd(wide)}  ${marks.join("  ")}`);
  });
  for (const cli of clis) {
    extras(cli, options).forEach(({ title }, at) => {
      const { what } = rows.get(cli.name).cells[scenarios.length + at];
      console.log(`${`${cli.name}: ${title}`.padEnd(wide)}  ${MARKS[what]}`);
    });
  }
  const all = [...rows.values()].flatMap(({ cells }) => cells);
  const count = (what) => all.filter((cell) => cell.what === what).length;
  console.log(`\n${count("not offered")} not offered, ${seconds.toFixed(0)} s`);
  console.log(`${count("ok")} passed, ${count("failed")} failed`);
  return count("failed") === 0;
}
