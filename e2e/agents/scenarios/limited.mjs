// A usage limit with the time it ends: the attempt is limited until then.

import assert from "node:assert/strict";

import { NotOffered } from "../kit/cell.mjs";
import { eventually } from "../kit/wait.mjs";

export const name = "limited";
export const title = "a 429 with reset time";

export async function play(cell) {
  const reset = Math.floor(Date.now() / 1000) + 3600;
  const { variant, silent, timeless, ...refusal } = cell.cli.limit(reset);
  const script = cell.script([{ fail: { status: 429, ...refusal } }]);
  const attempt = await cell.start(script, { variant });
  if (silent) await keepsSilent(cell, attempt, script);
  const { run, attempt: now } = await cell.ended(attempt);
  assert.equal(run.status, "failed");
  assert.equal(now.state, "limited");
  // Some agents tell of the limit in words of their own, without the time.
  if (timeless) assert.equal(now.limited_until, null);
  else assert.equal(Math.floor(Date.parse(now.limited_until) / 1000), reset);
}

/** An agent that tries again for ever tells nobody about the limit: its recording has no word about it. */
async function keepsSilent(cell, attempt, script) {
  await eventually("the agent tries again", () => cell.model.turns(script.id).length > 1);
  await cell.forge.post(`/api/task-attempts/${attempt.id}/stop`);
  const [lines] = await cell.recordings(attempt);
  const told = lines.filter((line) => line.dir !== ">" && /\b429\b|limit|quota/i.test(words(line)));
  assert.deepEqual(told, []);
  throw new NotOffered(`${cell.cli.name} tries again by itself and tells nothing of the limit; see its recording`);
}

/** What a line says, without its random ids: one in a few hundred has a 429 in it. */
function words({ msg }) {
  // The list of its own commands speaks of limits too.
  if (msg.params?.update?.sessionUpdate === "available_commands_update") return "";
  return JSON.stringify(msg.params ?? msg.error ?? "").replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, "");
}
