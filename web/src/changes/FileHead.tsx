// The head of a changed file: its name, what happened to it, the box that says it was viewed, and its menu.

import { copy } from "../app/copy";
import { shown } from "../app/keys";
import { Button } from "../ui/Button";
import { MenuButton, type MenuItem } from "../ui/Menu";
import { compact } from "../ui/numbers";
import { plain } from "../ui/Plain";
import styles from "./FileDiff.module.css";
import type { ChangedFile } from "./files";
import { useReader } from "./reader";

export function FileHead({ file, isOpen }: { file: ChangedFile; isOpen: boolean }) {
  const reader = useReader();
  const { path } = file;
  const isGone = file.diff.change === "deleted";
  const items = (): MenuItem[] => [
    {
      words: "Open in editor",
      icon: "external",
      hint: shown("o"),
      run: () => reader.openEditor(path),
      disabled: isGone ? "The file is deleted." : !reader.isNow && "These are files of an earlier turn.",
    },
    {
      words: "Copy path",
      icon: "copy",
      run: () => void copy(path, "The path"),
    },
    {
      words: "Copy link",
      icon: "copy",
      run: () =>
        void copy(
          `${location.origin}/a/${reader.attempt}?tab=changes&file=${encodeURIComponent(path)}`,
          "The link",
        ),
    },
    "line",
    {
      words: "Delete this file",
      icon: "trash",
      isDanger: true,
      run: () => reader.deleteFile(path),
      about: "A snapshot keeps it.",
      disabled: isGone ? "The file is deleted." : !reader.isNow && "These are files of an earlier turn.",
    },
  ];
  return (
    <header className={styles.head}>
      <Button
        kind="quiet"
        size="small"
        icon={isOpen ? "down" : "right"}
        label={`${isOpen ? "Fold" : "Show"} ${path}`}
        aria-expanded={isOpen}
        onClick={() => reader.setOpen(file, !isOpen)}
      />
      <h3 className={styles.path} title={path}>
        <span className={styles.name}>
          <bdi>{plain(path)}</bdi>
        </span>
        {file.isConflicted && <span className={styles.conflict}>conflict</span>}
        {file.about.length > 0 && <span className={styles.about}>{plain(file.about.join(", "))}</span>}
      </h3>
      <Counts added={file.added} deleted={file.deleted} />
      <label className={styles.viewed}>
        <input
          type="checkbox"
          aria-label={`Viewed ${path}`}
          checked={reader.isViewed(file)}
          onChange={(event) => reader.setViewed(file, event.target.checked)}
        />
        <span className={styles.viewedWord}>viewed</span>
      </label>
      <MenuButton kind="quiet" size="small" icon="more" label={`Actions for ${path}`} items={items} />
    </header>
  );
}

export function Counts({ added, deleted }: { added: number; deleted: number }) {
  return (
    <span className={styles.counts} title={`${added} added, ${deleted} deleted`}>
      {added > 0 && <span className={styles.added}>+{compact(added)}</span>}
      {deleted > 0 && <span className={styles.deleted}>−{compact(deleted)}</span>}
    </span>
  );
}
