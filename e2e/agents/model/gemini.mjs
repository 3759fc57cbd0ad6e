// Gemini generateContent.

import { named, pieces, textOf, whole as text } from "./pieces.mjs";

export const takes = (path) => /:(stream)?generateContent$/i.test(path);

export function read(body, path) {
  const talk = (body.contents ?? []).flatMap(({ role, parts = [] }) =>
    parts.map((part) => {
      if (part.functionResponse) return { who: "result", text: JSON.stringify(part.functionResponse.response ?? {}) };
      return { who: role === "model" ? "model" : "user", text: textOf(part), call: part.functionCall?.name };
    }),
  );
  const declared = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
  const tools = new Map(declared.map((tool) => [tool.name, { schema: tool.parametersJsonSchema ?? tool.parameters }]));
  const { responseJsonSchema, responseSchema } = body.generationConfig ?? {};
  const model = path.split("/").pop().split(":")[0];
  return { model, streamed: path.includes(":stream"), talk, tools, schema: responseJsonSchema ?? responseSchema };
}

const usageOf = ({ input, cached, output }) => ({
  promptTokenCount: input + cached,
  cachedContentTokenCount: cached,
  candidatesTokenCount: output,
  totalTokenCount: input + cached + output,
});

const called = (call) => ({ functionCall: { id: named("call_"), name: call.name, args: call.args } });

function chunk(modelVersion, usage, part, finishReason) {
  const candidate = { index: 0, content: { role: "model", parts: [part] }, ...(finishReason ? { finishReason } : {}) };
  return { modelVersion, candidates: [candidate], usageMetadata: usageOf(usage) };
}

export function whole(reply, model, usage) {
  return chunk(model, usage, reply.call ? called(reply.call) : { text: text(reply) }, "STOP");
}

export function* events(reply, model, usage) {
  const event = (part, finish, wait = 0) => ({ data: chunk(model, usage, part, finish), wait });
  if (reply.think) yield event({ text: reply.think, thought: true });
  if (reply.say) yield event({ text: reply.say });
  if (reply.call) {
    yield event(called(reply.call), "STOP");
    return;
  }
  const said = reply.say ? [] : pieces(reply);
  const last = said.pop() ?? { piece: "" };
  for (const { piece, wait } of said) yield event({ text: piece }, undefined, wait);
  yield event({ text: last.piece }, "STOP", last.wait);
}

const STATUS = { 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 429: "RESOURCE_EXHAUSTED" };

export const failure = (status) => ({
  error: { code: status, message: `scripted failure ${status}`, status: STATUS[status] ?? "INTERNAL" },
});
