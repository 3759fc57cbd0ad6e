// A tool call that waits for the person, who allows it: nothing happens before, and it happens after.

import assert from "node:assert/strict";

export const name = "allowed";
export const title = "an approval allowed";

export async function play(cell) {
  const script = cell.script([
    { call: cell.cli.tools.asked(`allowed.txt`, "it was allowed") },
    { text: "It is done." },
  ]);
  const attempt = await cell.start(script, { variant: "APPROVALS" });
  const ask = await cell.asked(attempt);
  assert.equal(ask.kind, "permission");
  assert.equal((await cell.attempt(attempt)).state, "waiting");
  assert.ok(!cell.has(attempt, "allowed.txt"), "nothing is written before the answer");
  const pending = await cell.shows(attempt, { type: "tool_use", status: "pending_approval", times: 1 });
  assert.equal(pending.entry_type.status.approval_id, ask.approval_id);
  await cell.answer(ask, { status: "approved" });
  const { run } = await cell.ended(attempt);
  assert.equal(run.status, "completed");
  assert.equal(cell.read(attempt, "allowed.txt").trim(), "it was allowed");
  await cell.shows(attempt, { type: "tool_use", status: "success", times: 1 });
  assert.equal(cell.model.turns(script.id).length, 2);
}
