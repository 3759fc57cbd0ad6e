// One changed file: its head, and its lines or the reason why there are none to see.

import { useEffect, useMemo, useSyncExternalStore } from "react";
import { sentenceOf } from "../api/client";
import { Button } from "../ui/Button";
import { counted } from "../ui/numbers";
import styles from "./FileDiff.module.css";
import { FileHead } from "./FileHead";
import { type ChangedFile, foldedBecause } from "./files";
import { Lines } from "./Lines";
import { useReader } from "./reader";
import { compared } from "./rows";

export function FileDiff({ file }: { file: ChangedFile }) {
  const reader = useReader();
  const isOpen = reader.isOpen(file);
  return (
    <section className={styles.file} aria-label={file.path} data-testid="diff-file" tabIndex={-1}>
      <FileHead file={file} isOpen={isOpen} />
      {isOpen ? <Body file={file} /> : <Folded file={file} />}
    </section>
  );
}

function Folded({ file }: { file: ChangedFile }) {
  const reader = useReader();
  const why = foldedBecause(file);
  if (!why || reader.isViewed(file)) return null;
  return (
    <p className={styles.note}>
      {why}
      <Button size="small" kind="quiet" onClick={() => reader.setOpen(file, true)}>
        Show
      </Button>
    </p>
  );
}

/** Beyond this nobody reads line by line, and drawing it takes a while. */
const MANY_LINES = 5000;
const MANY_CHARACTERS = 500_000;

function Body({ file }: { file: ChangedFile }) {
  const { store, isSpaceIgnored, forced, openEditor, isNow } = useReader();
  const content = useSyncExternalStore(store.subscribe, () => store.content(file.path));
  useEffect(() => {
    if (!content) store.want(file.path);
  });
  const diff = content?.state === "known" ? content.diff : null;
  const size = (diff?.newContent?.length ?? 0) + (diff?.oldContent?.length ?? 0);
  const isLong = file.added + file.deleted > MANY_LINES || size > MANY_CHARACTERS;
  const isShown = !isLong || forced.has(file.path);
  const both = useMemo(
    () =>
      diff && isShown && !diff.isBinary && !diff.contentOmitted
        ? compared(diff.oldContent, diff.newContent, isSpaceIgnored)
        : null,
    [diff, isShown, isSpaceIgnored],
  );
  const note = (words: string, canEdit = false) => (
    <p className={styles.note}>
      {words}
      {canEdit && isNow && file.diff.change !== "deleted" && (
        <Button size="small" kind="quiet" onClick={() => openEditor(file.path)}>
          Open in editor
        </Button>
      )}
    </p>
  );
  if (!content)
    return (
      <div
        className={styles.waiting}
        aria-busy="true"
        style={{ height: Math.min(40, file.added + file.deleted + 4) * 20 }}
      />
    );
  if (content.state === "failed")
    return (
      <p className={styles.note} role="alert">
        Not shown: {sentenceOf(content.error)}
        <Button size="small" onClick={() => store.again(file.path)}>
          Try again
        </Button>
      </p>
    );
  if (content.diff.isBinary) return note("A binary file: nothing to read here.", true);
  if (content.diff.contentOmitted)
    return note("Too large to show, or kept by a filter of the repository.", true);
  if (!isShown)
    return (
      <p className={styles.note}>
        {counted(file.added + file.deleted, "line")}.
        <Button
          size="small"
          kind="quiet"
          onClick={() => {
            forced.add(file.path);
            store.again(file.path);
          }}
        >
          Show anyway
        </Button>
        {isNow && (
          <Button size="small" kind="quiet" onClick={() => openEditor(file.path)}>
            Open in editor
          </Button>
        )}
      </p>
    );
  if (!both || both.edits.every((edit) => edit.kind === "same")) {
    if (isSpaceIgnored && content.diff.oldContent !== content.diff.newContent)
      return note("Only whitespace changed.");
    const words =
      content.diff.oldContent || content.diff.newContent ? "No line changed." : "The file is empty.";
    return note(words);
  }
  return <Lines path={file.path} both={both} />;
}
