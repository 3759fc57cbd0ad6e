// OpenAI Chat Completions.

import { kindOf, named, pieces, textOf, whole as text } from "./pieces.mjs";

export const takes = (path) => path.endsWith("/chat/completions");

const WHO = { user: "user", tool: "result" };

export function read(body) {
  const talk = body.messages.map(({ role, content, tool_calls: calls }) => ({
    who: WHO[role] ?? "model",
    text: textOf(content),
    call: calls?.[0]?.function?.name,
  }));
  const tools = new Map((body.tools ?? []).map((tool) => [tool.function?.name, { schema: tool.function?.parameters }]));
  const schema = body.response_format?.json_schema?.schema;
  return { model: body.model, streamed: Boolean(body.stream), talk, tools, schema };
}

const usageOf = ({ input, cached, output }) => ({
  prompt_tokens: input + cached,
  completion_tokens: output,
  total_tokens: input + cached + output,
  prompt_tokens_details: { cached_tokens: cached },
});

const callOf = (call) => ({
  id: named("call_"),
  type: "function",
  function: { name: call.name, arguments: JSON.stringify(call.args) },
});

const seconds = () => Math.floor(Date.now() / 1000);

export function whole(reply, model, usage) {
  const message = { role: "assistant", content: reply.call ? null : text(reply) };
  if (reply.call) message.tool_calls = [callOf(reply.call)];
  const choices = [{ index: 0, message, finish_reason: reply.call ? "tool_calls" : "stop" }];
  return { id: named("chatcmpl-"), object: "chat.completion", created: seconds(), model, choices, usage: usageOf(usage) };
}

export function* events(reply, model, usage) {
  const base = { id: named("chatcmpl-"), object: "chat.completion.chunk", created: seconds(), model };
  const chunk = (delta, finish_reason = null, wait = 0) => ({
    data: { ...base, choices: [{ index: 0, delta, finish_reason }] },
    wait,
  });
  yield chunk({ role: "assistant", content: "" });
  if (reply.think) yield chunk({ reasoning_content: reply.think });
  const said = reply.say ? [{ piece: reply.say }] : reply.call ? [] : pieces(reply);
  for (const { piece, wait } of said) yield chunk({ content: piece }, null, wait);
  if (reply.call) yield chunk({ tool_calls: [{ index: 0, ...callOf(reply.call) }] });
  yield chunk({}, reply.call ? "tool_calls" : "stop");
  yield { data: { ...base, choices: [], usage: usageOf(usage) } };
  yield { data: "[DONE]" };
}

export const failure = (status) => ({
  error: { message: `scripted failure ${status}`, type: kindOf(status), param: null, code: kindOf(status) },
});
