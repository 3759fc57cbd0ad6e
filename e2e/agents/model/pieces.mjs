// What the dialects have in common: the pieces of a text, and names.

import { randomUUID } from "node:crypto";

export const named = (prefix) => `${prefix}${randomUUID().replaceAll("-", "").slice(0, 24)}`;

/** A reply's text in pieces, each with the time to wait before it. */
export function pieces(reply) {
  if (reply.words) {
    const { count, ms } = reply.words;
    return Array.from({ length: count }, (_, at) => ({ piece: `word${at} `, wait: ms }));
  }
  return (reply.text ?? "").match(/\S+\s*/g)?.map((piece) => ({ piece, wait: 0 })) ?? [];
}

export const whole = (reply) => pieces(reply).map(({ piece }) => piece).join("");

/** The text of a message's content, in any dialect. */
export function textOf(content) {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(textOf).filter(Boolean).join("\n");
  return content?.text ?? "";
}

/** What went wrong, by status, in the words of the OpenAI and Anthropic dialects. */
export const kindOf = (status) =>
  ({ 401: "authentication_error", 403: "permission_error", 429: "rate_limit_error", 529: "overloaded_error" })[status] ??
  "api_error";
