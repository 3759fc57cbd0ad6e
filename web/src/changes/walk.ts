// Going through a diff with the keyboard: from file to file and from change to change, to a comment and past what was
// viewed. The focus goes along, so that a screen reader does too.

import { type RefObject, useRef } from "react";
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

type Spot = { path: string; row: number };

export function useWalk({ reader, files, place, list, scroller }: Where) {
  /** Where the last key leads, until the focus is there: a key that is held down goes on from it. */
  const going = useRef<Spot | null>(null);
  const indexOf = (path: string | null) => files.findIndex((file) => file.path === path);
  const sectionOf = (path: string) =>
    [...(scroller.current?.querySelectorAll<HTMLElement>("section") ?? [])].find(
      (section) => section.getAttribute("aria-label") === path,
    );
  const rowOf = (path: string, row: number) =>
    sectionOf(path)?.querySelector<HTMLElement>(`[data-row="${row}"]`);
  const focusedRow = (): Spot | null => {
    const active = document.activeElement;
    if (!(active instanceof HTMLElement) || !scroller.current?.contains(active)) return null;
    const path = active.closest("section")?.getAttribute("aria-label");
    const row = active.closest<HTMLElement>("[data-row]");
    return path ? { path, row: row ? Number(row.dataset.row) : -1 } : null;
  };

  // What was scrolled to exists a few frames later. The next key takes the place of this one.
  const arrive = (spot: Spot, isThere: () => boolean, tries = PATIENCE) => {
    going.current = spot;
    requestAnimationFrame(() => {
      if (going.current !== spot) return;
      if (isThere() || tries === 0) going.current = null;
      else arrive(spot, isThere, tries - 1);
    });
  };

  /** Shows a file from its top, and gives it the focus. */
  const to = (path: string) => {
    const index = indexOf(path);
    if (index < 0) return;
    list.current?.scrollToIndex(index, { align: "start" });
    arrive({ path, row: -1 }, () => {
      const section = sectionOf(path);
      section?.focus({ preventScroll: true });
      // What is not measured yet is hidden, and takes no focus.
      return section !== undefined && document.activeElement === section;
    });
  };

  const toRow = (path: string, row: number) => {
    const isThere = sectionOf(path);
    if (!isThere) list.current?.scrollToIndex(indexOf(path), { align: "start" });
    arrive({ path, row }, () => {
      const section = sectionOf(path);
      const found = rowOf(path, row);
      if (found) {
        found.scrollIntoView({ block: "center" });
        found.focus({ preventScroll: true });
        return document.activeElement === found;
      }
      section?.querySelector(`[data-piece="${Math.floor(row / 50)}"]`)?.scrollIntoView({ block: "center" });
      return false;
    });
  };

  const here = (): Spot | null =>
    going.current ?? focusedRow() ?? (place.at === null ? null : { path: place.at, row: -1 });

  return {
    to,
    file(step: 1 | -1) {
      const at = indexOf(here()?.path ?? null);
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
    comment: function comment() {
      // The line that the focus is on its way to is the one that is meant.
      if (going.current) return void requestAnimationFrame(comment);
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
      const path = here()?.path ?? null;
      const file = files[indexOf(path)];
      if (!file) return;
      const isViewed = !reader.isViewed(file);
      reader.setViewed(file, isViewed);
      const next = files[indexOf(path) + 1];
      if (isViewed && next) requestAnimationFrame(() => to(next.path));
    },
    /** The file and the line that have the focus, or the file at the top, for an editor. */
    at(): { path: string; line?: number } | null {
      const spot = here();
      if (!spot) return null;
      const { path, row } = spot;
      const number = rowOf(path, row)?.querySelector("button")?.textContent;
      return number ? { path, line: Number(number) } : { path };
    },
  };
}
