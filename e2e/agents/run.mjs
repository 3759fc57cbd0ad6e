// Plays every scenario with every real CLI against the scripted model, and prints which hold.
//
//   node e2e/agents/run.mjs [--only CLI[,CLI]] [--scenario NAME[,NAME]] [--record DIR] [--keep]
//
// The CLIs are installed first, while there is a network; then everything runs again inside a network namespace that has
// loopback alone. A cell is ok, failed, or not offered by the CLI; the exit status is that of the worst.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { install } from "./install.mjs";
import { play } from "./matrix.mjs";

const INSIDE = "FORGE_AGENTS_INSIDE";
const HERE = fileURLToPath(new URL(".", import.meta.url));

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    scenario: { type: "string" },
    forge: { type: "string" },
    record: { type: "string" },
    keep: { type: "boolean" },
  },
});

const NAMES = ["claude", "codex", "gemini", "qwen", "opencode", "copilot"];
const names = options.only?.split(",") ?? NAMES;
const clis = await Promise.all(names.map(async (name) => (await import(`./clis/${name}/cli.mjs`)).default));

process.exitCode = process.env[INSIDE] ? await inside() : outside();

function outside() {
  for (const cli of clis) install(cli);
  const forge = options.forge ?? built();
  const user = process.getuid() === 0 ? [] : ["--map-root-user"];
  const again = [process.execPath, `${HERE}run.mjs`, ...process.argv.slice(2), "--forge", forge];
  const command = ["--net", ...user, "--", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", ...again];
  const ran = spawnSync("unshare", command, { stdio: "inherit", env: { ...process.env, [INSIDE]: "1" } });
  if (ran.error) {
    console.error(`a network namespace could not be made: ${ran.error.message}`);
    return 1;
  }
  return ran.status ?? 1;
}

async function inside() {
  // Loopback alone, or what an agent sends could leave the machine.
  const links = execFileSync("ip", ["-o", "link", "show", "up"], { encoding: "utf8" }).trim().split("\n");
  if (links.length !== 1 || !links[0].includes(" lo:")) {
    console.error(`the network namespace has more than loopback:\n${links.join("\n")}`);
    return 1;
  }
  const played = await play({ clis, forge: options.forge, options });
  return played ? 0 : 1;
}

/** The binary that is tested: built here, unless it is named. */
function built() {
  execFileSync("cargo", ["build", "--package", "forge", "--locked"], { stdio: "inherit" });
  const target = process.env.CARGO_TARGET_DIR ?? `${HERE}../../target`;
  const binary = `${target}/debug/forge`;
  if (!existsSync(binary)) throw new Error(`cargo built no ${binary}`);
  return binary;
}
