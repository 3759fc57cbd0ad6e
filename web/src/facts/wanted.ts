// What an agent wants permission for: a verb, its object, everything else that the tool was given, and why. It is read
// here only, so that a card, the inbox and the conversation say the same, and all of it.

import type { Approval } from "../api/types";
import { counted } from "../ui/numbers";
import { plainText } from "../ui/Plain";

export type Wanted = {
  /** "Run", "Edit" and the like for tools that agents bring themselves; "Use" and the name for any other. */
  verb: string;
  /** The whole command, path or address; null when the input tells nothing of the kind. */
  object: string | null;
  /** Everything else that the tool was given, as text. */
  rest: string | null;
  /** Why, as the agent says. */
  reason: string | null;
};

const PATHS = ["file_path", "path", "notebook_path", "target_file"];

/**
 * The tools of the agents themselves, by their whole names: what a server or a repository brings may be called anything,
 * and does not get a verb that it might not deserve.
 */
const KINDS: ReadonlyArray<{ verb: string; tools: string; keys: readonly string[] }> = [
  {
    verb: "Run",
    tools:
      "bash shell local_shell terminal command exec exec_command execute run_command run_shell_command run_terminal_cmd",
    keys: ["command", "cmd", "script"],
  },
  {
    verb: "Edit",
    tools:
      "edit multiedit edit_file write write_file create create_file replace str_replace apply_patch patch notebookedit",
    keys: PATHS,
  },
  { verb: "Delete", tools: "delete delete_file", keys: PATHS },
  { verb: "Move", tools: "move move_file", keys: PATHS },
  { verb: "Fetch", tools: "fetch webfetch web_fetch", keys: ["url"] },
  { verb: "Read", tools: "read read_file read_many_files notebookread view list_directory ls", keys: PATHS },
  {
    verb: "Search",
    tools: "search grep grep_search glob find search_file_content websearch web_search google_web_search",
    keys: ["pattern", "query"],
  },
];

export function wanted(ask: Approval): Wanted {
  const input = isRecord(ask.input) ? ask.input : {};
  const kind = KINDS.find(({ tools }) => tools.split(" ").includes(ask.tool_name.toLowerCase()));
  const key = [...(kind?.keys ?? []), "command", ...PATHS, "url"].find((name) => name in input);
  const why = ["description", "reason"].find((name) => name !== key && isText(input[name]));
  const rest = Object.entries(input).filter(([name]) => name !== key && name !== why);
  return {
    verb: kind?.verb ?? (ask.tool_name ? `Use ${plainText(ask.tool_name)}` : "Use a tool"),
    object: key === undefined ? null : textOf(input[key]),
    rest: rest.length > 0 ? JSON.stringify(Object.fromEntries(rest), null, 2) : null,
    reason: why === undefined ? null : plainText(textOf(input[why])),
  };
}

/** What is wanted in one line, for which a card has room; it says how many there are. */
export function wantedLine(ask: Approval): string {
  const { verb, object, rest } = wanted(ask);
  const [first = "", ...more] = (object ?? rest?.replace(/\n\s*/g, " ") ?? ask.text).trim().split("\n");
  const lines = more.length > 0 ? ` (${counted(more.length + 1, "line")})` : "";
  return `${verb}${lines}: ${plainText(first.trimEnd())}`;
}

/** A verb as it stands within a sentence: the name of a tool stays as it is. */
export const within = (verb: string) => verb.charAt(0).toLowerCase() + verb.slice(1);

const RISKS =
  /(^|[^\w.])(rm|rmdir|unlink|shred|del|delete|drop|truncate|push|reset|clean|force|sudo|dd|mkfs[.\w]*)($|[^\w.])/i;

/** What cannot be taken back lightly: it deletes, pushes or resets something. What is written into a file may say so. */
export function isRisky(ask: Approval): boolean {
  const { verb, object, rest } = wanted(ask);
  if (/delete|remove|push|reset/i.test(ask.tool_name)) return true;
  return verb !== "Edit" && RISKS.test(`${object ?? ""}\n${rest ?? ""}`);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown) => typeof value === "string" && value !== "";
const textOf = (value: unknown) =>
  typeof value === "string" ? value : Array.isArray(value) ? value.join(" ") : JSON.stringify(value);
