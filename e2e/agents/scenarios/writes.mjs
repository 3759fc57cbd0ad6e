// A first turn that thinks, says something, writes a file and ends; what was done is on the attempt's branch.

import assert from "node:assert/strict";

export const name = "writes";
export const title = "first turn writes a file";

export async function play(cell) {
  const script = cell.script([
    { think: "A file is wanted.", say: "I will write a file.", call: cell.cli.tools.write("hello.txt", "hello from the model\n") },
    { text: "The file is written." },
  ]);
  const attempt = await cell.start(script);
  const { run, attempt: now } = await cell.ended(attempt);
  assert.equal(run.status, "completed");
  assert.equal(now.state, "finished");
  assert.equal(cell.read(attempt, "hello.txt").trim(), "hello from the model");
  assert.equal(cell.world.git("show", `${attempt.branch}:hello.txt`).trim(), "hello from the model");
  assert.equal(cell.world.git("status", "--porcelain"), "", "the person's own checkout is untouched");
  await cell.shows(attempt, { type: "user_message", content: /Please do what the script says/, times: 1 });
  if (!cell.cli.hidesThoughts) await cell.shows(attempt, { type: "thinking", content: /A file is wanted\./, times: 1 });
  await cell.shows(attempt, { type: "assistant_message", content: /I will write a file\./, times: 1 });
  await cell.shows(attempt, { type: "tool_use", action: cell.cli.writesBy ?? "file_edit", status: "success", times: 1 });
  await cell.shows(attempt, { type: "assistant_message", content: /The file is written\./, times: 1 });
  const turns = cell.model.turns(script.id);
  assert.equal(turns.length, 2);
  assert.equal(turns[1].talk.filter((part) => part.who === "result").length, 1);
  cell.countsAs(now, [script]);
}
