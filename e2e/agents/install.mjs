// Installs the pinned CLIs into a cache outside the repository, each from its own lock file. What is there already is
// not looked for again.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";

const CLIS = fileURLToPath(new URL("clis", import.meta.url));

/** Where the CLIs are kept, and the worlds they run in. */
export const CACHE = `${process.env.XDG_CACHE_HOME || `${homedir()}/.cache`}/forge-agents`;

/** Installs a CLI, and the newer Node where it needs one; says where its programs are. */
export function install(cli) {
  const own = installed(cli.name);
  const node = cli.node22 ? [installed("node")] : [];
  return {
    version: own.version,
    dirs: [own.dir],
    path: [`${own.dir}/node_modules/.bin`, ...node.map(({ dir }) => `${dir}/node_modules/node/bin`)],
  };
}

function installed(name) {
  const source = `${CLIS}/${name}`;
  const wanted = JSON.parse(readFileSync(`${source}/package.json`, "utf8"));
  const version = Object.values(wanted.dependencies)[0];
  const dir = `${CACHE}/${name}-${version}`;
  const lock = readFileSync(`${source}/package-lock.json`);
  const hash = createHash("sha256").update(lock).digest("hex");
  const mark = `${dir}/.installed`;
  if (existsSync(mark) && readFileSync(mark, "utf8") === hash) return { dir, version };
  console.log(`installing ${name} ${version}`);
  const fresh = `${dir}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  for (const file of ["package.json", "package-lock.json"]) cpSync(`${source}/${file}`, `${fresh}/${file}`);
  try {
    execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: fresh, stdio: "inherit" });
  } catch {
    rmSync(fresh, { recursive: true, force: true });
    throw new Error(`${name} ${version} could not be installed; the npm registry must be reachable for that`);
  }
  writeFileSync(`${fresh}/.installed`, hash);
  rmSync(dir, { recursive: true, force: true });
  renameSync(fresh, dir);
  return { dir, version };
}
