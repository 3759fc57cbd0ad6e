// Finding processes by where they work, what they run and what is in their environment, and ending exactly those. Only
// processes of our own network namespace are looked at: whatever is in it was started by this run.

import { readFileSync, readdirSync, readlinkSync } from "node:fs";

const quiet = (read) => {
  try {
    return read();
  } catch {
    // The process is gone, or is the kernel's own.
    return "";
  }
};

const NAMESPACE = readlinkSync("/proc/self/ns/net");

/** The living processes of which `matches({environ, cwd, command, exe})` is true; zombies are nobody's burden. */
export function processes(matches) {
  const found = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    if (quiet(() => readlinkSync(`/proc/${name}/ns/net`)) !== NAMESPACE) continue;
    const read = (file) => quiet(() => readFileSync(`/proc/${name}/${file}`, "utf8"));
    const link = (file) => quiet(() => readlinkSync(`/proc/${name}/${file}`));
    const command = read("cmdline").split("\0").join(" ").trim();
    if (!command) continue;
    const one = { pid: Number(name), command, environ: read("environ").split("\0"), cwd: link("cwd"), exe: link("exe") };
    if (matches(one)) found.push(one);
  }
  return found;
}

export const isBelow = (path, dir) => path === dir || path.startsWith(`${dir}/`);

/** Kills a process; one that is gone already is fine. */
export function kill(pid) {
  quiet(() => process.kill(pid, "SIGKILL"));
}
