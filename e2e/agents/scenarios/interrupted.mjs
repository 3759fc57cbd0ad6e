// A person stops an agent in the middle of an answer: it ends, hangs up on the model, and leaves no process.

import assert from "node:assert/strict";

import { eventually } from "../kit/wait.mjs";

export const name = "interrupted";
export const title = "an interrupt";

export async function play(cell) {
  const script = cell.script([{ words: { count: 3000, ms: 100 } }]);
  const attempt = await cell.start(script);
  const request = await cell.requested(script);
  await cell.forge.post(`/api/task-attempts/${attempt.id}/stop`);
  // When a stop returns, no process of the run is left.
  await cell.nothingLeft();
  const { run, attempt: now } = await cell.ended(attempt);
  assert.equal(run.status, "killed");
  assert.equal(now.state, "stopped");
  await eventually("the agent hangs up on the model", () => request.hungUp);
}
