import { expect, test } from "vitest";
import { goingOn } from "./going-on";

test("an agent that stands still is sent on by a word that says why it stood", () => {
  const words = (["stalled", "limited", "failed", "stopped"] as const).map(
    (it) => goingOn(it, "CODEX")?.words,
  );
  expect(words).toEqual(["Nudge", "Resume now", "Retry", "Continue"]);
  expect(goingOn("running", "CODEX")).toBeNull();
});

test("an agent that hears nothing before its turn ends is not nudged", () => {
  expect(goingOn("stalled", "GEMINI")).toBeNull();
  expect(goingOn("failed", "GEMINI")?.words).toBe("Retry");
});
