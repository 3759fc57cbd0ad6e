import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { Approval, ApprovalResponse } from "../api/types";
import { useBegun } from "../ui/begun";
import { withReason } from "./answer";

let write = (_: string) => {};

function Card({ ask }: { ask: string }) {
  write = useBegun(ask, "why", () => "")[1];
  return null;
}

/** Writes into the box of an ask, as on the attempt's page. */
function begin(ask: string, words: string) {
  renderToStaticMarkup(<Card ask={ask} />);
  write(words);
}

test("a reason that was begun at the attempt goes with a Deny, and with nothing else", () => {
  const sent: ApprovalResponse[] = [];
  const answerOf = (id: string) =>
    withReason((approved, more) => sent.push({ approved, ...more }), { approval_id: id } as Approval);
  begin("one", " use a backup first ");
  begin("two", " ");
  answerOf("one")(false);
  answerOf("one")(true, { scope: "session" });
  answerOf("two")(false);
  expect(sent).toEqual([
    { approved: false, reason: "use a backup first" },
    { approved: true, scope: "session" },
    { approved: false },
  ]);
});
