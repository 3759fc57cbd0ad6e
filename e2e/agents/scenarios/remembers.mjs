// A follow-up after the first turn's process has ended: the model is told what was said before.

import assert from "node:assert/strict";

export const name = "remembers";
export const title = "a follow-up that remembers";

export async function play(cell) {
  const first = cell.script([{ text: "The word is heliotrope." }], "-first");
  const second = cell.script([{ text: "I remember." }], "-second");
  const attempt = await cell.start(first, { words: "Remember the number 4711." });
  await cell.ended(attempt);
  await cell.cli.beforeFollowUp?.();
  await cell.followUp(attempt, second);
  const { run, runs, attempt: now } = await cell.ended(attempt, 2);
  assert.equal(run.status, "completed");
  assert.equal(runs.length, 2);
  await cell.shows(attempt, { type: "assistant_message", content: /The word is heliotrope\./, times: 1 });
  await cell.shows(attempt, { type: "assistant_message", content: /I remember\./, times: 1 });
  const [request] = cell.model.turns(second.id);
  const told = request.talk.map((part) => part.text).join("\n");
  assert.match(told, /the number 4711/);
  assert.match(told, /The word is heliotrope\./);
  // The agent's own session, not a memo of the transcript: what the model said is told as its own words.
  assert.ok(request.talk.some((part) => part.who === "model" && part.text.includes("heliotrope")));
  cell.countsAs(now, [first, second]);
}
