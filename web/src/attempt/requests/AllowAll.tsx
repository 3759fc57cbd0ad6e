// Several permissions that wait for the same kind of thing: all of them are read in full before one press allows them.

import { post, sentenceOf } from "../../api/client";
import type { Approval } from "../../api/types";
import { world } from "../../api/world";
import { useAway } from "../../app/away";
import { isRisky } from "../../facts/asks";
import { useAct } from "../../ui/act";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { HoldButton } from "../../ui/HoldButton";
import styles from "./Request.module.css";
import { wanted } from "./wanted";

type Props = {
  /** Those that were there when it was opened: what comes later was not read. */
  asks: readonly Approval[];
  onClose: () => void;
};

export function AllowAll({ asks, onClose }: Props) {
  const act = useAct();
  const away = useAway();
  const allow = async () => {
    if (await act.run("Allowing", () => allowEach(asks))) onClose();
  };
  const button = {
    kind: "ask",
    busy: act.busy ?? false,
    disabled: away,
    onClick: () => void allow(),
  } as const;
  const verb = `Allow all ${asks.length}`;
  return (
    <Dialog
      title={`${verb}?`}
      isAlert
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose} data-autofocus>
            Cancel
          </Button>
          {asks.some(isRisky) ? <HoldButton verb={verb} {...button} /> : <Button {...button}>{verb}</Button>}
        </>
      }
    >
      <ol className={styles.all}>
        {asks.map((ask) => {
          const { verb, object, rest, reason } = wanted(ask);
          return (
            <li key={ask.approval_id}>
              {verb}:{!object && !rest && ` ${ask.text}`}
              {[object, rest].map((text) => text && <Whole key={text} text={text} />)}
              {reason && <p className={styles.about}>“{reason}”</p>}
            </li>
          );
        })}
      </ol>
      {act.problem && (
        <p role="alert" className={styles.problem}>
          {act.problem}
        </p>
      )}
    </Dialog>
  );
}

function Whole({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    <pre className={styles.object} tabIndex={0}>
      {text}
    </pre>
  );
}

/** Allows one after the other. One that is refused stops no other; what somebody answered meanwhile is left alone. */
async function allowEach(asks: readonly Approval[]) {
  const refused: unknown[] = [];
  for (const { approval_id: id } of asks) {
    if (world().asks.get(id)?.state !== "open") continue;
    await post(`/approvals/${id}/respond`, { approved: true }).catch((error) => refused.push(error));
  }
  if (refused.length > 0)
    throw new Error(`${refused.length} of ${asks.length} were not allowed: ${sentenceOf(refused[0])}`);
}
