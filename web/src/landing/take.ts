// Takes the next step of landing: at once, or by the dialog that asks first.

import { type Landing, visit } from "./acts";
import type { Step } from "./next-step";
import type { Asked } from "./verbs";

export function take(step: Step, landing: Landing, ask: (what: Asked) => void) {
  if (step.verb === "resolve") ask("resolve");
  else if (step.verb === "continue") void landing.goOn();
  else if (step.verb === "push") void landing.push();
  else if (step.verb === "open pull request") visit(step.url);
  else if (step.verb === "create pull request") ask("pull request");
  else if (step.verb !== "nothing") ask(step.verb);
}
