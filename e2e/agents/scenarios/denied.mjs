// A tool call that the person denies: it has no effect, the model hears why, and the turn goes on to its end.

import assert from "node:assert/strict";

export const name = "denied";
export const title = "an approval denied";

export async function play(cell) {
  const script = cell.script([
    { call: cell.cli.tools.asked("denied.txt", "it was allowed") },
    { text: "Then I leave it." },
  ]);
  const attempt = await cell.start(script, { variant: "APPROVALS" });
  const ask = await cell.asked(attempt);
  await cell.answer(ask, { status: "denied", reason: "Leave that file alone." });
  const { run } = await cell.ended(attempt);
  assert.equal(run.status, "completed");
  assert.ok(!cell.has(attempt, "denied.txt"), "what was denied has no effect");
  await cell.shows(attempt, { type: "tool_use", status: "denied", times: 1 });
  // Where the protocol takes no reason, it is told as a message, which some agents answer with a request of its own.
  const last = cell.model.turns(script.id).at(-1);
  assert.equal(last.talk.filter((part) => part.who === "result").length, 1);
  assert.ok(last.talk.some((part) => part.text.includes("Leave that file alone.")), "the model hears the reason");
}
