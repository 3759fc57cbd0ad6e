// How a call of a tool ended, in one word and one tone.

import type { CommandResult, ToolStatus } from "../../api/types";

export type Result = { word: string; tone: "quiet" | "fail" | "done" };

export function resultOf(status: ToolStatus, result: CommandResult | null = null): Result {
  switch (status.status) {
    case "created":
      return { word: "running", tone: "quiet" };
    case "pending_approval":
      return { word: "waits for you", tone: "quiet" };
    case "denied":
      return { word: "denied", tone: "fail" };
    case "timed_out":
      return { word: "expired", tone: "fail" };
    case "failed":
      return { word: exitWord(result) ?? "failed", tone: "fail" };
    case "success":
      return { word: "passed", tone: "done" };
  }
}

function exitWord(result: CommandResult | null) {
  const exit = result?.exit_status;
  return exit?.type === "exit_code" ? `exit ${exit.code}` : null;
}
