// The changed files as a tree to walk through; only the rows on the screen exist.

import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { VList, type VListHandle } from "virtua";
import { Icon } from "../ui/Icon";
import { plain } from "../ui/Plain";
import { type Place, usePlace } from "../ui/place";
import { Counts } from "./FileHead";
import styles from "./FileTree.module.css";
import { type ChangedFile, nameOf, spoken, treeOf } from "./files";
import { useReader } from "./reader";

type Props = { files: readonly ChangedFile[]; place: Place; onChoose: (path: string) => void };

const ROW = 24;
/** A finger needs more room than a pointer. */
const FILE = matchMedia("(pointer: coarse)").matches ? 44 : ROW;

export function FileTree({ files, place, onChoose }: Props) {
  const current = usePlace(place);
  const { isViewed, comments } = useReader();
  const list = useRef<VListHandle>(null);
  const box = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => treeOf(files), [files]);
  const [focused, setFocused] = useState<string | null>(null);
  const active = files.some((file) => file.path === focused) ? focused : (current ?? files[0]?.path ?? null);
  const noted = new Map<string, number>();
  for (const { path } of comments.pending) noted.set(path, (noted.get(path) ?? 0) + 1);

  useEffect(() => {
    const at = rows.findIndex((row) => row.type === "file" && row.file.path === current);
    if (at >= 0 && !box.current?.contains(document.activeElement))
      list.current?.scrollToIndex(at, { align: "nearest" });
  }, [rows, current]);

  const move = (event: KeyboardEvent) => {
    const at = files.findIndex((file) => file.path === active);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: files.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const path = files[Math.max(0, Math.min(files.length - 1, to))]?.path ?? null;
    setFocused(path);
    list.current?.scrollToIndex(
      rows.findIndex((row) => row.type === "file" && row.file.path === path),
      {
        align: "nearest",
      },
    );
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus());
  };

  return (
    <div
      ref={box}
      className={styles.tree}
      role="tree"
      aria-label="Changed files"
      onKeyDown={move}
      style={{ height: Math.min((rows.length - files.length) * ROW + files.length * FILE + 8, 240) }}
    >
      <VList ref={list} itemSize={FILE} role="presentation" data-windowed data={rows}>
        {(row, index) =>
          row.type === "file" ? (
            <button
              key={row.file.path}
              type="button"
              role="treeitem"
              className={styles.row}
              aria-level={row.depth + 1}
              aria-current={row.file.path === current ? "true" : undefined}
              data-viewed={isViewed(row.file) || undefined}
              data-depth={row.depth}
              tabIndex={row.file.path === active ? 0 : -1}
              onFocus={() => setFocused(row.file.path)}
              onClick={() => onChoose(row.file.path)}
            >
              <span className="unseen">{spoken(row.file)}</span>
              <span aria-hidden="true" className={styles.seen}>
                <Icon name={isViewed(row.file) ? "done" : "file"} size={14} />
                <span className={styles.name} title={row.file.path}>
                  <bdi>{plain(nameOf(row.file.path))}</bdi>
                </span>
                {row.file.isConflicted && <span className={styles.conflict}>conflict</span>}
                {row.file.about.length > 0 && (
                  <span className={styles.about}>{plain(short(row.file.about))}</span>
                )}
                {noted.has(row.file.path) && (
                  <span className={styles.noted}>
                    <Icon name="comment" size={12} />
                    {noted.get(row.file.path)}
                  </span>
                )}
                <Counts added={row.file.added} deleted={row.file.deleted} />
              </span>
            </button>
          ) : (
            <div
              key={`${row.words} ${index}`}
              role="presentation"
              className={row.type === "heading" ? styles.heading : styles.folder}
            >
              <bdi>{plain(row.words)}</bdi>
            </div>
          )
        }
      </VList>
    </div>
  );
}

const short = (about: readonly string[]) =>
  about.map((words) => (words.startsWith("renamed") ? "renamed" : words)).join(", ");
