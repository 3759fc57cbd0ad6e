// A plan: read it, let it be done, change its text, or say what should be different.

import type { KeyboardEvent } from "react";
import { Button } from "../../ui/Button";
import { useBegun } from "../../ui/begun";
import { Markdown } from "../../ui/Markdown";
import { usePlan } from "../../ui/plan";
import box from "../../ui/Words.module.css";
import type { CardProps } from "./Request";
import styles from "./Request.module.css";

/** Esc leaves a box without a decision, and does nothing else on the page. */
const leaveOn = (leave: () => void) => (event: KeyboardEvent) => {
  if (event.key !== "Escape") return;
  event.stopPropagation();
  leave();
};

export function PlanCard({ ask, answering }: CardProps) {
  const { busy, said, off, answer } = answering;
  const { plan, edited, setEdited, isFresh: isEditFresh, words } = usePlan(ask);
  const [change, setChange, isChangeFresh] = useBegun<string | null>(ask.approval_id, "change", () => null);
  return (
    <div role="group" aria-label="Plan" className={styles.group}>
      <p className={styles.asks}>Plan ready.</p>
      {edited === null ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        <div className={styles.plan} role="region" aria-label="The plan" tabIndex={0}>
          <Markdown text={plan} />
        </div>
      ) : (
        <textarea
          className={box.words}
          aria-label="The plan"
          rows={10}
          autoFocus={isEditFresh}
          value={edited}
          onChange={(event) => setEdited(event.target.value)}
          onKeyDown={leaveOn(() => setEdited(null))}
        />
      )}
      <div className={styles.row}>
        <Button kind="ask" busy={said === true && busy} disabled={off} onClick={() => answer(true, words)}>
          Approve plan
        </Button>
        <Button kind="quiet" onClick={() => setEdited(edited === null ? plan : null)}>
          {edited === null ? "Edit" : "Discard edit"}
        </Button>
        {change === null ? (
          <Button onClick={() => setChange("")}>Ask for changes</Button>
        ) : (
          <>
            <input
              className={styles.why}
              aria-label="What should be different?"
              placeholder="What should be different?"
              autoFocus={isChangeFresh}
              value={change}
              onChange={(event) => setChange(event.target.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && change.trim()) answer(false, { reason: change.trim() });
                else leaveOn(() => setChange(null))(event);
              }}
            />
            <Button
              busy={said === false && busy}
              disabled={off ?? (!change.trim() && "Say what should be different.")}
              onClick={() => answer(false, { reason: change.trim() })}
            >
              Send
            </Button>
            <Button kind="quiet" onClick={() => setChange(null)}>
              Cancel
            </Button>
          </>
        )}
      </div>
    </div>
  );
}
