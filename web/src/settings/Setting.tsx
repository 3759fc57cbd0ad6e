// A value that is saved by itself: text when the field is left or Enter pressed, a choice at once.

import { type ReactNode, useEffect, useState } from "react";
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
  type?: "text" | "password" | "number";
  /** Several lines: Enter makes a new one. */
  lines?: number;
};

export function TextSetting({ label, help, value, onSave, placeholder, type = "text", lines }: TextProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const { saved, problem, commit, reset } = useSaving(onSave);
  // Once the server's value is what was typed, the field shows the server's value again.
  useEffect(() => {
    setDraft((draft) => (draft === value ? null : draft));
  }, [value]);
  const leave = () => {
    if (draft !== null && draft !== value) void commit(draft);
  };
  const common = {
    label,
    help,
    placeholder,
    problem,
    saved: saved && (draft === null || draft === value || type === "password"),
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
