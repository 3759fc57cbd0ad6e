// A tool call that the person denies: it has no effect, the model hears of it, and the turn goes on.

import assert from "node:assert/strict";

export const name = "denied";
export const title = "an approval denied";

export async function play(cell) {
  const replies = [{ call: cell.cli.tools.asked("denied.txt", "it was allowed") }];
  // Some agents end the turn when they are denied something.
  if (!cell.cli.denialEnds) replies.push({ text: "Then I leave it." });
  const script = cell.script(replies);
  const attempt = await cell.start(script, { variant: "APPROVALS" });
  const ask = await cell.asked(attempt);
  await cell.answer(ask, { status: "denied", reason: "Leave that file alone." });
  await cell.ended(attempt);
  assert.ok(!cell.has(attempt, "denied.txt"), "what was denied has no effect");
  const turns = cell.model.turns(script.id);
  assert.equal(turns.length, replies.length);
  if (!cell.cli.denialEnds) assert.equal(turns[1].talk.filter((part) => part.who === "result").length, 1);
}
