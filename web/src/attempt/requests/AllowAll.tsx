// Several permissions that wait for the same kind of thing: all of them are read in full before one press allows them.

import { post, sentenceOf } from "../../api/client";
import type { Approval } from "../../api/types";
import { world } from "../../api/world";
import { useAway } from "../../app/away";
import { isRisky, wanted } from "../../facts/wanted";
import { useAct } from "../../ui/act";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { HoldButton } from "../../ui/HoldButton";
import { WholeRequest } from "../../ui/WholeRequest";
import styles from "./Request.module.css";

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
          const { verb, reason } = wanted(ask);
          return (
            <li key={ask.approval_id}>
              {verb}:
              <WholeRequest ask={ask} />
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
