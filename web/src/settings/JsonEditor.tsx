// JSON as text: checked while it is typed, saved when the person says so.

import { useRef, useState } from "react";
import { Button } from "../ui/Button";
import { parseJson, rangeOfLine } from "./json";
import styles from "./Settings.module.css";
import { useSaving } from "./saving";

type Props = { label: string; text: string; onSave: (value: unknown) => Promise<unknown> };

export function JsonEditor({ label, text, onSave }: Props) {
  const [draft, setDraft] = useState<string | null>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const {
    isBusy,
    saved,
    problem: refused,
    commit,
    reset,
  } = useSaving(async (value: unknown) => {
    await onSave(value);
    setDraft(null);
  });
  const current = draft ?? text;
  const { value, problem } = parseJson(current);
  const save = () => problem === null && draft !== null && void commit(value);
  const show = (line: number) => {
    const [begin, end] = rangeOfLine(current, line);
    box.current?.focus();
    box.current?.setSelectionRange(begin, end);
  };
  return (
    <>
      <textarea
        ref={box}
        className={styles.json}
        aria-label={label}
        aria-invalid={problem ? true : undefined}
        spellCheck={false}
        rows={20}
        value={current}
        onChange={(event) => {
          setDraft(event.target.value);
          reset();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
        }}
      />
      <div className={styles.line}>
        <Button
          kind="primary"
          busy={isBusy && "Saving"}
          disabled={problem ? problem.words : draft === null && "Nothing was changed."}
          onClick={save}
        >
          Save
        </Button>
        {draft !== null && <Button onClick={() => setDraft(null)}>Take back</Button>}
        {saved && (
          <span role="status" className={styles.saved}>
            Saved
          </span>
        )}
        {problem && (
          <span role="alert" className={styles.problem}>
            {problem.words}{" "}
            <Button size="small" onClick={() => show(problem.line)}>
              Show line {problem.line}
            </Button>
          </span>
        )}
        {refused && (
          <span role="alert" className={styles.problem}>
            {refused}
          </span>
        )}
      </div>
    </>
  );
}
