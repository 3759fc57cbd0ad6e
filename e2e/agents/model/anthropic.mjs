// Anthropic Messages.

import { kindOf, named, pieces, textOf, whole as text } from "./pieces.mjs";

export const takes = (path) => path.endsWith("/messages");

export function read(body) {
  const talk = body.messages.flatMap(({ role, content }) => {
    const blocks = Array.isArray(content) ? content : [{ type: "text", text: content ?? "" }];
    return blocks.flatMap((block) => {
      if (block.type === "tool_result") return [{ who: "result", text: textOf(block.content) }];
      // Newer clients put notes of role `system` between the messages.
      if (role !== "user") return [{ who: "model", text: textOf(block), call: block.name }];
      return [{ who: "user", text: textOf(block) }];
    });
  });
  const tools = new Map((body.tools ?? []).map((tool) => [tool.name, { schema: tool.input_schema }]));
  return { model: body.model, streamed: Boolean(body.stream), talk, tools, schema: body.output_config?.format?.schema };
}

const usageOf = ({ input, cached, output }) => ({
  input_tokens: input,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: 0,
  output_tokens: output,
});

export function whole(reply, model, usage) {
  const { call } = reply;
  const content = call
    ? [{ type: "tool_use", id: named("toolu_"), name: call.name, input: call.args }]
    : [{ type: "text", text: text(reply) }];
  const stop_reason = call ? "tool_use" : "end_turn";
  const base = { id: named("msg_"), type: "message", role: "assistant", model, stop_sequence: null };
  return { ...base, content, stop_reason, usage: usageOf(usage) };
}

export function* events(reply, model, usage) {
  let index = -1;
  const event = (type, more = {}, wait = 0) => ({ event: type, data: { type, ...more }, wait });
  function* block(content_block, deltas) {
    index += 1;
    yield event("content_block_start", { index, content_block });
    for (const { delta, wait } of deltas) yield event("content_block_delta", { index, delta }, wait);
    yield event("content_block_stop", { index });
  }
  const message = { id: named("msg_"), type: "message", role: "assistant", model, content: [], stop_reason: null };
  const begun = { ...usageOf(usage), output_tokens: 1 };
  yield event("message_start", { message: { ...message, stop_sequence: null, usage: begun } });
  if (reply.think) {
    yield* block({ type: "thinking", thinking: "", signature: "" }, [
      { delta: { type: "thinking_delta", thinking: reply.think } },
      { delta: { type: "signature_delta", signature: "c2NyaXB0ZWQ=" } },
    ]);
  }
  const said = reply.say ? [{ piece: reply.say }] : reply.call ? [] : pieces(reply);
  if (said.length > 0) {
    const deltas = said.map(({ piece, wait }) => ({ delta: { type: "text_delta", text: piece }, wait }));
    yield* block({ type: "text", text: "" }, deltas);
  }
  if (reply.call) {
    const partial_json = JSON.stringify(reply.call.args);
    const start = { type: "tool_use", id: named("toolu_"), name: reply.call.name, input: {} };
    yield* block(start, [{ delta: { type: "input_json_delta", partial_json } }]);
  }
  const delta = { stop_reason: reply.call ? "tool_use" : "end_turn", stop_sequence: null };
  yield event("message_delta", { delta, usage: { output_tokens: usage.output } });
  yield event("message_stop");
}

export const failure = (status) => ({
  type: "error",
  error: { type: kindOf(status), message: `scripted failure ${status}` },
});
