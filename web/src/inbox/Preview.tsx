// The chosen thing of the inbox: its facts, what is asked with the buttons to answer, and where the conversation stands.

import { Link } from "wouter";
import { useWorld } from "../api/world";
import { useActing } from "../app/acting";
import { useAway } from "../app/away";
import { runSoon, shown } from "../app/keys";
import { goOn } from "../app/task-acts";
import { agentWord, profileWords } from "../facts/agents";
import { goingOn } from "../facts/going-on";
import type { InboxItem } from "../facts/inbox";
import type { Answering } from "../ui/answer";
import { Button } from "../ui/Button";
import { LastLines } from "../ui/LastLines";
import { MenuButton, type MenuItem } from "../ui/Menu";
import { compact, counted, money } from "../ui/numbers";
import { Ago } from "../ui/time";
import styles from "./Inbox.module.css";
import { Request } from "./Request";
import { STATE_OF } from "./Row";

type Props = {
  item: InboxItem;
  answering: Answering;
  onDismiss: () => void;
  laters: () => readonly MenuItem[];
};

export function Preview({ item, answering, onDismiss, laters }: Props) {
  const { attempt, ask } = item;
  const project = useWorld((world) => world.projects.get(attempt.project_id)?.name);
  const away = useAway();
  const acting = useActing(attempt.id);
  const way = goingOn(STATE_OF[item.kind], attempt.executor);
  return (
    <section className={styles.preview} aria-label="Preview">
      <header>
        <h2>{item.title}</h2>
        <p className={styles.facts}>
          {[
            project,
            profileWords(attempt.executor_profile_id),
            attempt.branch,
            attempt.files_changed ? counted(attempt.files_changed, "file") : null,
            attempt.lines_added || attempt.lines_deleted
              ? `+${compact(attempt.lines_added ?? 0)} −${compact(attempt.lines_deleted ?? 0)}`
              : null,
            attempt.cost_micros ? money(attempt.cost_micros) : null,
          ]
            .filter(Boolean)
            .join(" · ")}{" "}
          · <Ago since={item.since} />
        </p>
      </header>
      {ask ? (
        <Request ask={ask} answering={answering} agent={agentWord(attempt.executor)} />
      ) : (
        item.reason && <p className={styles.why}>{item.reason}</p>
      )}
      <div className={styles.more}>
        {way && (
          <Button busy={acting.busy} disabled={away} onClick={() => goOn(attempt.id, attempt, way)}>
            {way.words}
          </Button>
        )}
        <Link className={styles.open} href={`/a/${attempt.id}`}>
          {VERBS[item.kind] ?? "Open"}
        </Link>
        <Link className={styles.open} href={`/a/${attempt.id}`} onClick={() => runSoon("reply")}>
          Reply <kbd aria-hidden="true">r</kbd>
        </Link>
        <Button hint="e" onClick={onDismiss}>
          Dismiss
        </Button>
        <MenuButton label={`Later ${shown("Shift+z")}`} items={laters}>
          Later
        </MenuButton>
      </div>
      <LastLines attempt={attempt.id} />
    </section>
  );
}

const VERBS: Partial<Record<InboxItem["kind"], string>> = { conflict: "Resolve", finished: "Review" };
