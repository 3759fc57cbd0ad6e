// A permission: verb and object first, the whole command, why, and the answers.

import { useContext, useState } from "react";
import { get, put, sentenceOf } from "../../api/client";
import type { Rule, SetRules } from "../../api/types";
import { world } from "../../api/world";
import { isRisky, wanted, within } from "../../facts/wanted";
import { Button } from "../../ui/Button";
import { useBegun } from "../../ui/begun";
import { HoldButton } from "../../ui/HoldButton";
import { MenuButton } from "../../ui/Menu";
import { WholeRequest } from "../../ui/WholeRequest";
import { type CardProps, WaitingHere } from "./Request";
import styles from "./Request.module.css";
import { isSame, rulesFor } from "./rules";

export function ApprovalCard({ ask, answering, agent, hasKeys }: CardProps) {
  const { busy, said, off, answer } = answering;
  const [why, setWhy] = useBegun(ask.approval_id, "why", () => "");
  const [problem, setProblem] = useState<string | null>(null);
  const [isKeeping, setKeeping] = useState(false);
  const { verb, reason } = wanted(ask);
  const { all } = useContext(WaitingHere);
  const attempt = world().attempts.get(ask.task_attempt_id);

  const remember = async (rule: SetRules["rules"][number]) => {
    if (!attempt) return;
    setKeeping(true);
    setProblem(null);
    try {
      const path = `/projects/${attempt.project_id}/rules`;
      const rules = await get<Rule[]>(path);
      const kept = rules.map(({ effect, about, pattern }) => ({ effect, about, pattern }));
      // Whoever clicks twice wants one rule.
      if (!kept.some((it) => isSame(it, rule))) await put(path, { rules: [...kept, rule] });
      answer(true);
    } catch (error) {
      setProblem(sentenceOf(error));
    } finally {
      setKeeping(false);
    }
  };

  const allow = {
    kind: "ask",
    hint: hasKeys ? "a" : undefined,
    busy: (said === true && busy) || (isKeeping && "Keeping the rule"),
    disabled: off,
    onClick: () => answer(true),
  } as const;
  return (
    <div role="group" aria-label={`Approval: ${verb}`} className={styles.group}>
      <p className={styles.asks}>
        {agent} wants to {within(verb)}:
      </p>
      <WholeRequest ask={ask} />
      <p className={styles.about}>
        {reason && <>“{reason}” · </>}
        {attempt?.worktree_path ?? attempt?.container_ref ?? ""} · no rule covers this
      </p>
      <div className={styles.row}>
        <Button
          hint={hasKeys ? "d" : undefined}
          busy={said === false && busy}
          disabled={off}
          onClick={() => answer(false, why.trim() ? { reason: why.trim() } : {})}
        >
          Deny
        </Button>
        {isRisky(ask) ? <HoldButton verb="Allow" {...allow} /> : <Button {...allow}>Allow</Button>}
        {hasKeys && all && (
          <Button disabled={off} onClick={all.show}>
            Allow all {all.count}…
          </Button>
        )}
        <MenuButton
          label="Allow more"
          items={() => [
            { heading: "Allow in this attempt…" },
            {
              words: "Allow similar commands for this attempt",
              isHeld: true,
              run: () => answer(true, { scope: "session" }),
            },
            { heading: "Allow in this project…" },
            ...rulesFor(ask).map(({ words, rule }) => ({
              words: `Always: ${words}`,
              isHeld: true,
              run: () => void remember(rule),
            })),
          ]}
        >
          Allow more
        </MenuButton>
        <input
          className={styles.why}
          aria-label="Tell the agent why (optional)"
          placeholder="Tell the agent why (optional)"
          value={why}
          onChange={(event) => setWhy(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && why.trim()) answer(false, { reason: why.trim() });
          }}
        />
      </div>
      {problem && (
        <p role="alert" className={styles.problem}>
          The rule was not kept: {problem}
        </p>
      )}
    </div>
  );
}
