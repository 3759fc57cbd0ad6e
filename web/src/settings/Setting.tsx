// A value that is saved by itself: text when the field is left or Enter pressed, a choice at once.

import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "../ui/Button";
import { CheckField, SelectField, TextArea, TextField } from "../ui/Field";
import styles from "./Settings.module.css";
import { useSaving } from "./saving";

type Props<T> = {
  label: string;
  help?: ReactNode;
  value: T;
  onSave: (value: T) => Promise<unknown>;
};

type TextProps = Props<string> & {
  placeholder?: string;
  type?: "text" | "number";
  /** Several lines: Enter makes a new one. */
  lines?: number;
};

export function TextSetting({ label, help, value, onSave, placeholder, type = "text", lines }: TextProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const { isBusy, saved, problem, commit, reset } = useSaving(onSave);
  const sent = useRef<string | null>(null);
  // Once the server's value is what was typed, the field shows the server's value again.
  useEffect(() => {
    setDraft((draft) => (draft === value ? null : draft));
  }, [value]);
  const leave = () => {
    // Who presses Enter and leaves the field means it once.
    if (draft === null || draft === value || (isBusy && draft === sent.current)) return;
    sent.current = draft;
    void commit(draft);
  };
  const common = {
    label,
    help,
    placeholder,
    problem,
    saved: saved && (draft === null || draft === value),
    spellCheck: false,
    value: draft ?? value,
    onBlur: leave,
  };
  const change = (text: string) => {
    setDraft(text);
    reset();
  };
  return lines ? (
    <TextArea {...common} rows={lines} onChange={(event) => change(event.target.value)} />
  ) : (
    <TextField
      {...common}
      type={type}
      autoComplete="off"
      onChange={(event) => change(event.target.value)}
      onKeyDown={(event) => event.key === "Enter" && leave()}
    />
  );
}

type SecretProps = Omit<Props<string | null>, "value"> & {
  /** One is stored, which is never shown. */
  isStored: boolean;
  /** What it is, in the words of the button that removes it: "token". */
  what: string;
};

/** A value that goes in and is never shown again: the field is empty once it is stored, and a button takes it away. */
export function SecretSetting({ label, help, onSave, isStored, what }: SecretProps) {
  const [draft, setDraft] = useState("");
  const { isBusy, saved, problem, commit, reset } = useSaving(async (value: string | null) => {
    await onSave(value);
    setDraft("");
  });
  const leave = () => {
    if (draft.trim() && !isBusy) void commit(draft.trim());
  };
  return (
    <>
      <TextField
        label={label}
        help={help}
        placeholder={isStored ? `a ${what} is stored` : "none is stored"}
        problem={problem}
        saved={saved}
        type="password"
        autoComplete="off"
        spellCheck={false}
        value={draft}
        onBlur={leave}
        onKeyDown={(event) => event.key === "Enter" && leave()}
        onChange={(event) => {
          setDraft(event.target.value);
          reset();
        }}
      />
      {isStored && (
        <div className={styles.line}>
          <Button busy={isBusy && "Saving"} onClick={() => void commit(null)}>
            Remove the {what}
          </Button>
        </div>
      )}
    </>
  );
}

type ChoiceProps = Props<string> & { choices: ReadonlyArray<readonly [value: string, words: string]> };

export function ChoiceSetting({ label, help, value, onSave, choices }: ChoiceProps) {
  const { saved, problem, commit } = useSaving(onSave);
  return (
    <SelectField
      label={label}
      help={help}
      saved={saved}
      problem={problem}
      value={value}
      onChange={(event) => void commit(event.target.value)}
    >
      {choices.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </SelectField>
  );
}

export function CheckSetting({ label, help, value, onSave }: Props<boolean>) {
  const { saved, problem, commit } = useSaving(onSave);
  return (
    <div className={styles.check}>
      <CheckField
        label={label}
        help={help}
        checked={value}
        onChange={(event) => void commit(event.target.checked)}
      />
      {saved && (
        <span role="status" className={styles.saved}>
          Saved
        </span>
      )}
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
    </div>
  );
}
