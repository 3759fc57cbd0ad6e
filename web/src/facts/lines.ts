// An entry of a conversation as one line, for a glance at where it stands.

import type { NormalizedEntry } from "../api/types";
import { firstLine } from "../facts/state";

export type Line = { who: "person" | "agent" | "tool" | "error"; text: string };

/** The line of an entry; null for what says nothing at a glance. */
export function lineOf({ entry_type, content }: NormalizedEntry): Line | null {
  switch (entry_type.type) {
    case "user_message":
    case "user_feedback":
      return said("person", content);
    case "assistant_message":
      return said("agent", content);
    case "error_message":
      return said("error", content);
    case "tool_use": {
      const action = entry_type.action_type;
      switch (action.action) {
        case "command_run":
          return said("tool", `$ ${action.command}`);
        case "file_edit":
          return said("tool", `Edited ${action.path}`);
        case "file_read":
          return said("tool", `Read ${action.path}`);
        case "search":
          return said("tool", `Searched ${action.query}`);
        case "web_fetch":
          return said("tool", `Fetched ${action.url}`);
        default:
          return said("tool", content || entry_type.tool_name);
      }
    }
    default:
      return null;
  }
}

function said(who: Line["who"], content: string): Line | null {
  const text = firstLine(content);
  return text ? { who, text } : null;
}
