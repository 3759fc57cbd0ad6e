// A command that fails: the model hears how, and the turn goes on to its end.

import assert from "node:assert/strict";

export const name = "fails";
export const title = "a failing command";

export async function play(cell) {
  const script = cell.script([
    { call: cell.cli.tools.run("echo out of luck >&2; exit 3") },
    { text: "The command failed." },
  ]);
  const attempt = await cell.start(script);
  const { run } = await cell.ended(attempt);
  assert.equal(run.status, "completed");
  const [, second] = cell.model.turns(script.id);
  const heard = second.talk.findLast((part) => part.who === "result").text;
  assert.match(heard, /out of luck/);
}
