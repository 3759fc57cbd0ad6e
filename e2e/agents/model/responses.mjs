// OpenAI Responses.

import { kindOf, named, pieces, textOf, whole as text } from "./pieces.mjs";

export const takes = (path) => path.endsWith("/responses");

export function read(body) {
  const items = Array.isArray(body.input) ? body.input : [{ role: "user", content: body.input }];
  const talk = items.flatMap((item) => {
    const type = item.type ?? "message";
    if (type === "additional_tools") return [];
    if (type.endsWith("_output")) return [{ who: "result", text: textOf(item.output) }];
    if (type === "message" && item.role === "user") return [{ who: "user", text: textOf(item.content) }];
    return [{ who: "model", text: textOf(item.content), call: item.name }];
  });
  // A model that the client knows well gets its tools in the input.
  const later = items.flatMap((item) => (item.type === "additional_tools" ? (item.tools ?? []) : []));
  const offered = [...(body.tools ?? []), ...later];
  const tools = new Map(
    offered
      // The tools of a server of MCP stand together below its name, which a call has to give.
      .flatMap((tool) => (tool.type === "namespace" ? tool.tools.map((one) => ({ ...one, namespace: tool.name })) : [tool]))
      .map(({ name, type, parameters: schema, namespace }) => [name ?? type, { schema, freeform: type === "custom", namespace }]),
  );
  return { model: body.model, streamed: Boolean(body.stream), talk, tools, schema: body.text?.format?.schema };
}

const usageOf = ({ input, cached, output }) => ({
  input_tokens: input + cached,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + cached + output,
});

export function whole(reply, model, usage) {
  for (const { event, data } of events(reply, model, usage)) {
    if (event === "response.completed") return data.response;
  }
  throw new Error("a response without an end");
}

export function* events(reply, model, usage) {
  const base = { id: named("resp_"), object: "response", created_at: Math.floor(Date.now() / 1000), model };
  const output = [];
  let sequence_number = -1;
  const event = (type, more, wait = 0) => {
    sequence_number += 1;
    return { event: type, data: { type, sequence_number, ...more }, wait };
  };
  function* item(begun, done, between = []) {
    const output_index = output.length;
    yield event("response.output_item.added", { output_index, item: begun });
    for (const { type, wait, ...more } of between) {
      yield event(`response.${type}`, { item_id: done.id, output_index, ...more }, wait);
    }
    yield event("response.output_item.done", { output_index, item: done });
    output.push(done);
  }
  function* message(said) {
    const words = said.map(({ piece }) => piece).join("");
    const part = { type: "output_text", text: words, annotations: [] };
    const base = { type: "message", id: named("msg_"), role: "assistant" };
    const deltas = said.map(({ piece, wait }) => ({ type: "output_text.delta", content_index: 0, delta: piece, wait }));
    yield* item({ ...base, status: "in_progress", content: [] }, { ...base, status: "completed", content: [part] }, [
      { type: "content_part.added", content_index: 0, part: { ...part, text: "" } },
      ...deltas,
      { type: "output_text.done", content_index: 0, text: words },
      { type: "content_part.done", content_index: 0, part },
    ]);
  }
  yield event("response.created", { response: { ...base, status: "in_progress", output: [] } });
  if (reply.think) {
    const part = { type: "summary_text", text: reply.think };
    const base = { type: "reasoning", id: named("rs_"), encrypted_content: null };
    yield* item({ ...base, summary: [] }, { ...base, summary: [part] }, [
      { type: "reasoning_summary_part.added", summary_index: 0, part: { ...part, text: "" } },
      { type: "reasoning_summary_text.delta", summary_index: 0, delta: reply.think },
      { type: "reasoning_summary_text.done", summary_index: 0, text: reply.think },
    ]);
  }
  if (reply.say) yield* message([{ piece: reply.say }]);
  else if (!reply.call) yield* message(pieces(reply));
  if (reply.call) yield* item(...called(reply.call));
  const response = { ...base, status: "completed", output, usage: usageOf(usage) };
  yield event("response.completed", { response });
}

/** A call as it begins, as it ends, and what is told in between. */
function called({ name, args, freeform, namespace }) {
  const base = { call_id: named("call_"), name, ...(namespace ? { namespace } : {}) };
  if (freeform) {
    const call = { type: "custom_tool_call", id: named("ctc_"), ...base };
    return [{ ...call, status: "in_progress", input: "" }, { ...call, status: "completed", input: args.input }];
  }
  const text = JSON.stringify(args);
  const call = { type: "function_call", id: named("fc_"), ...base };
  return [
    { ...call, status: "in_progress", arguments: "" },
    { ...call, status: "completed", arguments: text },
    [
      { type: "function_call_arguments.delta", delta: text },
      { type: "function_call_arguments.done", arguments: text },
    ],
  ];
}

export const failure = (status) => ({
  error: { message: `scripted failure ${status}`, type: kindOf(status), param: null, code: kindOf(status) },
});
