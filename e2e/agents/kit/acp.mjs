// What the agents of the Agent Client Protocol have in common.

import assert from "node:assert/strict";

/** A plan is a mode of the session in which nothing is changed: what the model tries all the same has no effect, whether
 * the agent refuses by itself or asks the person, who refuses too. */
export const planByMode = (write) =>
  async function plan(cell) {
    const script = cell.script([{ call: write("planned.txt", "too early") }, { text: "1. Write the file." }]);
    const attempt = await cell.start(script, { variant: "PLAN" });
    await cell.denyAll(attempt);
    const { run } = await cell.ended(attempt);
    assert.equal(run.status, "completed");
    assert.ok(!cell.has(attempt, "planned.txt"), "nothing is written while it plans");
    const [lines] = await cell.recordings(attempt);
    const set = lines.find(({ dir, msg }) => dir === ">" && /^session\/set_(mode|config_option)$/.test(msg.method));
    assert.match(JSON.stringify(set?.msg.params ?? null), /plan/i, "the session was put into its mode for plans");
    const answer = lines.find(({ dir, msg }) => dir === "<" && msg.id === set.msg.id && !msg.method);
    assert.ok(answer?.msg.result !== undefined, "the agent accepted the mode");
    await cell.shows(attempt, { type: "assistant_message", content: /1\. Write the file\./ });
  };
