// An edit of a file: its name, how much changed, and the first changed lines.

import { useMemo, useState } from "react";
import type { FileChange, ToolStatus } from "../../api/types";
import { Button } from "../../ui/Button";
import { plain, plainText } from "../../ui/Plain";
import { changeOf, firstChanged } from "./change";
import styles from "./Edit.module.css";
import { Fold } from "./Fold";
import { resultOf } from "./result";

const SHOWN = 12;

type Props = { id: string; path: string; changes: readonly FileChange[]; status: ToolStatus };

export function Edit({ id, path, changes, status }: Props) {
  const { lines, added, deleted, words } = useMemo(() => changeOf(changes), [changes]);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? lines : firstChanged(lines, SHOWN);
  const { word, tone } = resultOf(status);
  const counts = lines.length > 0 ? `${added} added, ${deleted} deleted` : (words ?? "");
  const ended = status.status === "success" ? "" : `, ${word}`;
  return (
    <Fold
      id={id}
      icon="edit"
      label={`Edited ${plainText(path)}, ${counts}${ended}`}
      head={
        <>
          Edited <code>{plain(path)}</code> {words && <i>{words}</i>}
        </>
      }
      tone={tone}
      result={
        status.status !== "success" && word !== "running" ? (
          word
        ) : lines.length > 0 ? (
          <>
            <span className={styles.added}>+{added}</span> <span className={styles.deleted}>−{deleted}</span>
          </>
        ) : null
      }
      isOpen
    >
      {lines.length > 0 && (
        <>
          <div className={styles.lines}>
            {shown.map((line, index) => (
              <div key={index} className={styles.line} data-sign={line.sign}>
                <span className={styles.number}>{line.number ?? ""}</span>
                <span className={styles.sign}>{line.sign === "@" ? "⋯" : line.sign}</span>
                <span>{plain(line.text)}</span>
              </div>
            ))}
          </div>
          {shown.length < lines.length && (
            <Button size="small" kind="quiet" onClick={() => setWhole(true)}>
              Show {lines.length - shown.length} more lines
            </Button>
          )}
        </>
      )}
    </Fold>
  );
}
