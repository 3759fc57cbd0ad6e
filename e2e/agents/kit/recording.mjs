// What an agent and Forge said to each other, read from the log in a run's directory: the same bytes that Forge folds.

import { readFileSync, readdirSync } from "node:fs";

const HEADER = 28;
const STREAMS = { 1: "<", 2: "!", 3: ">" };

/** The lines of a run in order: {dir, msg}, where `<` the agent printed, `>` was sent to it, and `!` came on its
 * standard error. A line that is JSON is given as what it means, any other as text. */
export function recording(runDir) {
  const lines = [];
  const open = { "<": [], "!": [], ">": [] };
  const give = (dir, bytes) => {
    const text = bytes.toString("utf8").replace(/\r$/, "");
    if (text.trim() !== "") lines.push({ dir, msg: meaning(text) });
  };
  for (const { dir, payload } of records(runDir)) {
    let rest = payload;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      give(dir, Buffer.concat([...open[dir].splice(0), rest.subarray(0, end)]));
      rest = rest.subarray(end + 1);
    }
    open[dir].push(rest);
  }
  for (const [dir, left] of Object.entries(open)) give(dir, Buffer.concat(left));
  return lines;
}

function meaning(text) {
  try {
    const read = JSON.parse(text);
    return typeof read === "object" && read !== null ? read : text;
  } catch {
    return text;
  }
}

function* records(runDir) {
  const segments = readdirSync(runDir)
    .filter((name) => /^log-\d+\.flog$/.test(name))
    .sort((one, other) => start(one) - start(other));
  for (const name of segments) {
    const bytes = readFileSync(`${runDir}/${name}`);
    for (let at = 0; at + HEADER <= bytes.length; ) {
      const length = bytes.readUInt32LE(at + 4);
      const dir = STREAMS[bytes[at + 3]];
      const payload = bytes.subarray(at + HEADER, at + HEADER + length);
      // What was sent begins with its number.
      if (dir) yield { dir, payload: dir === ">" ? payload.subarray(8) : payload };
      at += HEADER + length;
    }
  }
}

const start = (name) => Number(name.slice("log-".length, -".flog".length));
