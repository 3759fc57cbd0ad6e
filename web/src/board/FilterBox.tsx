// The filter's box, which offers tokens while somebody types.

import { type RefObject, useId, useState } from "react";
import { sameList, useWorld } from "../api/world";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import styles from "./Board.module.css";
import { offers } from "./filter";

type Props = { box: RefObject<HTMLInputElement | null>; value: string; onChange: (value: string) => void };

export function FilterBox({ box, value, onChange }: Props) {
  const list = useId();
  const [isOpen, setOpen] = useState(false);
  const agents = useWorld(
    (world) => [...new Set([...world.attempts.values()].map((attempt) => attempt.executor))].sort(),
    sameList,
  );
  const projects = useWorld((world) => [...world.projects.values()].map(({ name }) => name).sort(), sameList);
  const offered = isOpen ? offers(value, { agents, projects }) : [];
  const pick = (text: string) => {
    onChange(text);
    box.current?.focus();
  };
  return (
    <div
      className={styles.filter}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setOpen(false);
      }}
    >
      <Icon name="search" size={14} />
      <input
        ref={box}
        type="search"
        aria-label="Filter tasks"
        aria-controls={list}
        aria-describedby={`${list}-about`}
        placeholder="Filter"
        autoComplete="off"
        spellCheck={false}
        value={value}
        onFocus={() => setOpen(true)}
        onChange={(event) => {
          setOpen(true);
          onChange(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.preventDefault();
            event.stopPropagation();
            if (value) onChange("");
            else event.currentTarget.blur();
          }
          if (event.key === "Tab" && !event.shiftKey && value.match(/\S$/) && offered[0]) {
            event.preventDefault();
            pick(offered[0]);
          }
        }}
      />
      <kbd aria-hidden="true">/</kbd>
      <span className="unseen" id={`${list}-about`}>
        Words, or tokens such as state:failed. Tab takes the first that is offered.
      </span>
      <div id={list} className={styles.offers} hidden={offered.length === 0}>
        {offered.map((text) => (
          <Button
            key={text}
            kind="quiet"
            size="small"
            label={`Filter by ${lastOf(text)}`}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => pick(text)}
          >
            {lastOf(text)}
          </Button>
        ))}
      </div>
    </div>
  );
}

const lastOf = (text: string) => text.trimEnd().match(/(?:"[^"]*"|\S)+$/)?.[0] ?? text;
