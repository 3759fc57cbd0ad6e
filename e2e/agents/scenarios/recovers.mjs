// A provider that fails once: the agent tries again, and nothing is lost.

import assert from "node:assert/strict";

export const name = "recovers";
export const title = "a 500, then success";

export async function play(cell) {
  const script = cell.script([{ fail: { status: 500, times: 1 }, text: "Now it works." }]);
  const attempt = await cell.start(script);
  const { run, attempt: now } = await cell.ended(attempt);
  assert.equal(run.status, "completed");
  const answers = cell.model.turns(script.id).map((request) => request.answer);
  assert.deepEqual(answers, ["status 500", "Now it works."]);
  cell.countsAs(now, [script]);
}
