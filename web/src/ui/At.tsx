// What `@` offers in a text: snippets by name, and files of a project by a part of their path. The choice replaces the
// word that was typed.

import { type KeyboardEvent, type RefObject, useEffect, useId, useState } from "react";
import { get } from "../api/client";
import type { SearchResult, Tag } from "../api/types";
import styles from "./At.module.css";

type Offer = { key: string; kind: "snippet" | "file"; words: string; text: string };

const QUIET = 120;

/** The `@word` that ends at the caret; null when there is none. */
export function wordAt(text: string, caret: number): { from: number; word: string } | null {
  const found = /(?:^|\s)@([\w./-]*)$/.exec(text.slice(0, caret));
  if (!found) return null;
  const word = found[1] ?? "";
  return { from: caret - word.length - 1, word };
}

/**
 * Offers for a text area. Give `keys` to its `onKeyDown` first (it says whether it took the key), call `look` after
 * every change of text or caret, and draw `list` below it.
 */
export function useAt(
  area: RefObject<HTMLTextAreaElement | null>,
  project: string | null,
  onChange: (text: string) => void,
) {
  const id = useId();
  const [word, setWord] = useState<{ from: number; word: string } | null>(null);
  const [offers, setOffers] = useState<readonly Offer[]>([]);
  const [at, setAt] = useState(0);
  const typed = word?.word ?? null;

  useEffect(() => {
    if (typed === null) return setOffers([]);
    const given = new AbortController();
    const timer = setTimeout(async () => {
      const found = await ask(typed, project, given.signal);
      if (given.signal.aborted) return;
      setOffers(found);
      setAt(0);
    }, QUIET);
    return () => {
      clearTimeout(timer);
      given.abort();
    };
  }, [typed, project]);

  const look = () => {
    const field = area.current;
    setWord(field ? wordAt(field.value, field.selectionStart) : null);
  };
  const pick = (offer: Offer) => {
    const field = area.current;
    if (!field || !word) return;
    const before = field.value.slice(0, word.from);
    const after = field.value.slice(field.selectionStart);
    onChange(before + offer.text + after);
    setWord(null);
    const caret = before.length + offer.text.length;
    requestAnimationFrame(() => {
      field.focus();
      field.setSelectionRange(caret, caret);
    });
  };
  const isOpen = word !== null && offers.length > 0;
  const keys = (event: KeyboardEvent): boolean => {
    if (!isOpen) return false;
    const chosen = offers[at];
    if (event.key === "ArrowDown") setAt((at + 1) % offers.length);
    else if (event.key === "ArrowUp") setAt((at - 1 + offers.length) % offers.length);
    else if (event.key === "Escape") setWord(null);
    else if ((event.key === "Enter" || event.key === "Tab") && chosen && !event.ctrlKey && !event.metaKey)
      pick(chosen);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const list = isOpen && (
    <div className={styles.list} role="listbox" id={id} aria-label="Snippets and files">
      {offers.map((offer, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text area.
        <div
          key={offer.key}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          className={styles.offer}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => pick(offer)}
        >
          <b>{offer.words}</b> <small>{offer.kind}</small>
        </div>
      ))}
    </div>
  );
  const about = isOpen
    ? { "aria-controls": id, "aria-activedescendant": `${id}-${at}`, "aria-autocomplete": "list" as const }
    : {};
  return { look, keys, list, about };
}

/** Nothing of this is worth an error: what cannot be asked for is not offered. */
async function ask(typed: string, project: string | null, signal: AbortSignal): Promise<Offer[]> {
  const search = encodeURIComponent(typed);
  const [tags, files] = await Promise.all([
    get<Tag[]>(`/tags?search=${search}`, signal).catch(() => []),
    project && typed
      ? get<SearchResult[]>(`/projects/${project}/search?q=${search}`, signal).catch(() => [])
      : [],
  ]);
  return [
    ...tags.slice(0, 6).map(
      ({ id, tag_name, content }): Offer => ({
        key: id,
        kind: "snippet",
        words: `@${tag_name}`,
        text: content,
      }),
    ),
    ...files
      .filter((file) => file.is_file)
      .slice(0, 6)
      .map(({ path }): Offer => ({ key: path, kind: "file", words: path, text: `\`${path}\` ` })),
  ];
}
