// The server is killed while an ask waits; the next one has the same ask, and its answer reaches the same agent.

import assert from "node:assert/strict";

export const name = "restart";
export const title = "killed while an ask waits";

export async function play(cell) {
  const script = cell.script([
    { call: cell.cli.tools.asked("after.txt", "written after the restart") },
    { text: "It is done." },
  ]);
  const attempt = await cell.start(script, { variant: "APPROVALS" });
  const ask = await cell.asked(attempt);
  await cell.forge.kill();
  await cell.forge.start();
  const again = await cell.asked(attempt);
  assert.equal(again.approval_id, ask.approval_id, "the ask is the same");
  assert.ok(!cell.has(attempt, "after.txt"), "nothing is written before the answer");
  await cell.answer(again, { status: "approved" });
  const { run, runs } = await cell.ended(attempt);
  assert.equal(run.status, "completed");
  assert.equal(runs.length, 1, "the same process went on");
  assert.equal(cell.read(attempt, "after.txt").trim(), "written after the restart");
  assert.equal(cell.model.turns(script.id).length, 2);
}
