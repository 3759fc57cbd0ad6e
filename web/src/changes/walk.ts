// Going through a diff with the keyboard: from file to file and from change to change, to a comment and past what was
// viewed. The focus goes along, so that a screen reader does too.

import type { RefObject } from "react";
import type { VirtualizerHandle } from "virtua";
import type { Place } from "../ui/place";
import type { ChangedFile } from "./files";
import type { Reader } from "./reader";
import { startsChange } from "./rows";

type Where = {
  reader: Reader;
  files: readonly ChangedFile[];
  place: Place;
  list: RefObject<VirtualizerHandle | null>;
  scroller: RefObject<HTMLElement | null>;
};

const PATIENCE = 40;

export function useWalk({ reader, files, place, list, scroller }: Where) {
  const indexOf = (path: string | null) => files.findIndex((file) => file.path === path);
  const sectionOf = (path: string) =>
    [...(scroller.current?.querySelectorAll<HTMLElement>("section") ?? [])].find(
      (section) => section.getAttribute("aria-label") === path,
    );
  const focusedRow = () => {
    const active = document.activeElement;
    if (!(active instanceof HTMLElement) || !scroller.current?.contains(active)) return null;
    const path = active.closest("section")?.getAttribute("aria-label");
    const row = active.closest<HTMLElement>("[data-row]");
    return path ? { path, row: row ? Number(row.dataset.row) : -1 } : null;
  };

  /** Shows a file from its top, and gives it the focus. */
  const to = (path: string) => {
    const index = indexOf(path);
    if (index < 0) return;
    list.current?.scrollToIndex(index, { align: "start" });
    eventually(() => {
      const section = sectionOf(path);
      section?.focus({ preventScroll: true });
      // What is not measured yet is hidden, and takes no focus.
      return section !== undefined && document.activeElement === section;
    });
  };

  const toRow = (path: string, row: number) => {
    const isThere = sectionOf(path);
    if (!isThere) list.current?.scrollToIndex(indexOf(path), { align: "start" });
    eventually(() => {
      const section = sectionOf(path);
      const found = section?.querySelector<HTMLElement>(`[data-row="${row}"]`);
      if (found) {
        found.scrollIntoView({ block: "center" });
        found.focus({ preventScroll: true });
        return document.activeElement === found;
      }
      section?.querySelector(`[data-piece="${Math.floor(row / 50)}"]`)?.scrollIntoView({ block: "center" });
      return false;
    });
  };

  const here = () => focusedRow() ?? (place.at === null ? null : { path: place.at, row: -1 });

  return {
    to,
    file(step: 1 | -1) {
      const at = indexOf(focusedRow()?.path ?? place.at);
      const next = files[Math.max(0, Math.min(files.length - 1, at + step))];
      if (next) to(next.path);
    },
    change(step: 1 | -1) {
      const from = here();
      if (!from) return;
      const starts = (path: string) =>
        (reader.rows.get(path) ?? []).flatMap((row, index) => (startsChange(row) ? [index] : []));
      const within = starts(from.path);
      const row =
        step === 1
          ? within.find((index) => index > from.row)
          : within.findLast((index) => index < (from.row < 0 ? Number.POSITIVE_INFINITY : from.row));
      if (row !== undefined) {
        toRow(from.path, row);
        return;
      }
      const next = files[indexOf(from.path) + step];
      if (!next) return;
      const there = starts(next.path);
      const first = step === 1 ? there[0] : there.at(-1);
      if (first === undefined) to(next.path);
      else toRow(next.path, first);
    },
    /** Comments on the row that has the focus, or on the first change that is on the screen. */
    comment() {
      const top = scroller.current?.getBoundingClientRect().top ?? 0;
      const row =
        document.activeElement?.closest("[data-row]") ??
        [...(scroller.current?.querySelectorAll("[data-starts]") ?? [])].find(
          (it) => it.getBoundingClientRect().top > top,
        );
      row?.querySelector<HTMLButtonElement>("button")?.click();
    },
    /** Marks the file as viewed and goes on; a viewed one is not any more. */
    viewed() {
      const path = focusedRow()?.path ?? place.at;
      const file = files[indexOf(path)];
      if (!file) return;
      const isViewed = !reader.isViewed(file);
      reader.setViewed(file, isViewed);
      const next = files[indexOf(path) + 1];
      if (isViewed && next) requestAnimationFrame(() => to(next.path));
    },
    /** The file and the line that have the focus, or the file at the top, for an editor. */
    at(): { path: string; line?: number } | null {
      const path = here()?.path;
      if (!path) return null;
      const number = document.activeElement?.closest("[data-row]")?.querySelector("button")?.textContent;
      return number ? { path, line: Number(number) } : { path };
    },
  };
}

// What was scrolled to exists a few frames later.
function eventually(isDone: () => boolean, tries = PATIENCE) {
  requestAnimationFrame(() => {
    if (!isDone() && tries > 0) eventually(isDone, tries - 1);
  });
}
