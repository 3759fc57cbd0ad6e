// A text area in which `@` offers the person's snippets and the project's files, and puts in what is chosen.

import { useQuery } from "@tanstack/react-query";
import {
  type KeyboardEvent,
  type Ref,
  type TextareaHTMLAttributes,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { get } from "../api/client";
import type { SearchResult, Tag } from "../api/types";
import styles from "./MentionArea.module.css";
import { type Mention, mentionAt, replaced } from "./mention";

type Props = Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "onChange" | "value"> & {
  value: string;
  onChange: (text: string) => void;
  /** Whose files are offered; null offers snippets only. */
  project: string | null;
  /** Where the offers stand; above, where the area is at the foot of the page. */
  offersAt?: "above" | "below";
  ref?: Ref<HTMLTextAreaElement>;
};

type Offer = { words: string; about: string; text: string };
const MOST = 8;

export function MentionArea({
  value,
  onChange,
  project,
  offersAt = "above",
  ref,
  onKeyDown,
  className,
  ...rest
}: Props) {
  const area = useRef<HTMLTextAreaElement>(null);
  useImperativeHandle(ref, () => area.current as HTMLTextAreaElement);
  const list = useId();
  const [mention, setMention] = useState<Mention | null>(null);
  const [at, setAt] = useState(0);
  /** Where the caret goes when the text that was put in is there. */
  const next = useRef<number | null>(null);
  const offers = useOffers(project, mention);
  const look = () => {
    const { value, selectionStart, selectionEnd } = area.current ?? {
      value: "",
      selectionStart: 0,
      selectionEnd: 0,
    };
    setMention(selectionStart === selectionEnd ? mentionAt(value, selectionStart) : null);
    setAt(0);
  };
  const choose = (offer: Offer) => {
    if (!mention || !area.current) return;
    const { text, caret } = replaced(value, mention, offer.text);
    onChange(text);
    setMention(null);
    next.current = caret;
    area.current.focus();
  };
  // With the text, before the next key: whoever types on at once must not have the caret put back.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is what the caret waits for
  useLayoutEffect(() => {
    const caret = next.current;
    next.current = null;
    if (caret !== null) area.current?.setSelectionRange(caret, caret);
  }, [value]);
  const isOpen = mention !== null && offers.length > 0;
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const offer = offers[at];
    if (isOpen && offer && !event.nativeEvent.isComposing) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        event.preventDefault();
        setAt((at + step + offers.length) % offers.length);
        return;
      }
      if ((event.key === "Enter" || event.key === "Tab") && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        choose(offer);
        return;
      }
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        setMention(null);
        return;
      }
    }
    onKeyDown?.(event);
  };
  return (
    <div className={styles.around}>
      <textarea
        {...rest}
        ref={area}
        className={className}
        value={value}
        aria-autocomplete="list"
        aria-controls={isOpen ? list : undefined}
        aria-activedescendant={isOpen ? `${list}-${at}` : undefined}
        onChange={(event) => {
          next.current = null;
          onChange(event.target.value);
          look();
        }}
        onKeyDown={press}
        onClick={look}
        onKeyUp={(event) => {
          if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) look();
        }}
        onBlur={(event) => {
          setMention(null);
          rest.onBlur?.(event);
        }}
      />
      {isOpen && (
        <div
          id={list}
          className={styles.offers}
          data-at={offersAt}
          role="listbox"
          aria-label="Snippets and files"
        >
          {offers.map((offer, index) => (
            <div
              key={`${offer.about}${offer.words}`}
              id={`${list}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              className={styles.offer}
              // The area keeps the focus.
              onPointerDown={(event) => {
                event.preventDefault();
                choose(offer);
              }}
            >
              <span>{offer.words}</span>
              <small>{offer.about}</small>
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function useOffers(project: string | null, mention: Mention | null): readonly Offer[] {
  const word = mention?.word ?? "";
  const { data: tags } = useQuery({
    queryKey: ["settings", "tags"],
    queryFn: ({ signal }) => get<Tag[]>("/tags", signal),
    enabled: mention !== null,
  });
  const { data: files } = useQuery({
    queryKey: ["project", project, "search", word],
    queryFn: ({ signal }) =>
      get<SearchResult[]>(`/projects/${project}/search?q=${encodeURIComponent(word)}`, signal),
    enabled: mention !== null && project !== null && word.length > 0,
    staleTime: 10_000,
  });
  if (!mention) return [];
  const found = (tags ?? [])
    .filter((tag) => tag.tag_name.toLowerCase().includes(word.toLowerCase()))
    .map((tag) => ({ words: `@${tag.tag_name}`, about: tag.content.slice(0, 80), text: tag.content }));
  const paths = (files ?? [])
    .filter((file) => file.is_file)
    .map((file) => ({ words: file.path, about: "file", text: `\`${file.path}\`` }));
  return [...found, ...paths].slice(0, MOST);
}
