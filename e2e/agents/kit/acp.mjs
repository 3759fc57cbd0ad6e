// What the agents of the Agent Client Protocol have in common.

import assert from "node:assert/strict";

/** A provider's refusal that names the moment at which it ends, in the dialect of OpenAI. */
export function rateLimit(reset) {
  const message = `Rate limit reached, your quota exceeded; try again at ${new Date(reset * 1000).toISOString()}`;
  return { body: { error: { message, type: "insufficient_quota", param: null, code: "insufficient_quota" } } };
}

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
    const said = lines.flatMap(({ msg }) => msg.params?.update?.sessionUpdate === "agent_message_chunk" ? [msg.params.update.content.text] : []);
    assert.match(said.join(""), /1\. Write the file\./);
  };
