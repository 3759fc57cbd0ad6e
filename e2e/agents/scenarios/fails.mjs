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
  const status = cell.cli.hidesFailures ? "success" : "failed";
  const shown = await cell.shows(attempt, { type: "tool_use", action: "command_run", status, times: 1 });
  const { command, result } = shown.entry_type.action_type;
  assert.match(command, /echo out of luck/);
  if (!cell.cli.hidesFailures) assert.match(result.output, /out of luck/);
  if (!cell.cli.hidesExitCodes) assert.deepEqual(result.exit_status, { type: "exit_code", code: 3 });
  const [, second] = cell.model.turns(script.id);
  const heard = second.talk.findLast((part) => part.who === "result").text;
  assert.match(heard, /out of luck/);
}
