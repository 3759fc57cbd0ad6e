// A provider that does not know the key: the run fails, and says why.

import assert from "node:assert/strict";

export const name = "unauthorized";
export const title = "a 401";

export async function play(cell) {
  const script = cell.script([{ fail: { status: 401 } }]);
  const attempt = await cell.start(script);
  const { run, attempt: now } = await cell.ended(attempt);
  assert.equal(run.status, "failed");
  assert.equal(now.state, "failed");
  await cell.shows(attempt, { type: "error_message" });
  assert.match(now.reason ?? "", cell.cli.says?.[401] ?? /401|authenticat|scripted failure/i);
}
