// A look at the card that has the focus, without leaving the board: it goes along as the focus moves.

import { useEffect } from "react";
import { useWorld } from "../api/world";
import { profileWords } from "../facts/agents";
import { LOOKS } from "../facts/state";
import { Button } from "../ui/Button";
import { LastLines } from "../ui/LastLines";
import { StateMark } from "../ui/StateMark";
import { WholeRequest } from "../ui/WholeRequest";
import { useActive } from "./active";
import { cardOf, sameCard } from "./cards";
import { Meta } from "./Meta";
import styles from "./Peek.module.css";

export function Peek({ onClose }: { onClose: () => void }) {
  const id = useActive((active) => active.card);
  const card = useWorld((world) => (id ? cardOf(world, id) : undefined), sameCard);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) onClose();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [onClose]);
  if (!card) return null;
  const { task, facts } = card;
  const { attempt, ask } = facts;
  return (
    <section className={styles.peek} aria-label="Peek">
      <header className={styles.head}>
        <StateMark state={facts.state} />
        <h2>{task.title}</h2>
        <Button size="small" kind="quiet" icon="close" label="Close" onClick={onClose} />
      </header>
      <p className={styles.state} data-tone={LOOKS[facts.state].tone}>
        {LOOKS[facts.state].words}
        {facts.reason && `: ${facts.reason}`}
      </p>
      {ask?.kind === "permission" && <WholeRequest ask={ask} />}
      <Meta card={card} />
      {attempt && (
        <p className={styles.about}>
          {profileWords(attempt.executor_profile_id)} · {attempt.branch}
        </p>
      )}
      {task.description?.trim() && <p className={styles.prompt}>{task.description.trim()}</p>}
      {attempt && <LastLines key={attempt.id} attempt={attempt.id} />}
    </section>
  );
}
