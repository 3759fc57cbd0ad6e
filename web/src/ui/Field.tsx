// A labelled field: its label, its help, what is wrong with it, and the word "Saved" when it is.

import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import styles from "./Field.module.css";

type About = {
  label: string;
  help?: ReactNode;
  problem?: string | null;
  /** Shown beside the label once the server has it. */
  saved?: boolean;
  isLabelHidden?: boolean;
};

function Around({
  label,
  help,
  problem,
  saved,
  isLabelHidden,
  id,
  children,
}: About & { id: string; children: ReactNode }) {
  return (
    <div className={styles.field}>
      <span className={isLabelHidden ? "unseen" : styles.label}>
        <label htmlFor={id}>{label}</label>
        {saved && <span role="status">Saved</span>}
      </span>
      {children}
      {help && (
        <p id={`${id}-help`} className={styles.help}>
          {help}
        </p>
      )}
      {problem && (
        <p id={`${id}-problem`} className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

const described = (id: string, { help, problem }: About) => ({
  "aria-describedby":
    [help && `${id}-help`, problem && `${id}-problem`].filter(Boolean).join(" ") || undefined,
  "aria-invalid": problem ? true : undefined,
});

function split<T extends About>({ label, help, problem, saved, isLabelHidden, ...rest }: T) {
  return [{ label, help, problem, saved, isLabelHidden }, rest] as const;
}

export function TextField(props: About & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  const [about, rest] = split(props);
  return (
    <Around {...about} id={id}>
      <input {...rest} {...described(id, about)} id={id} className={styles.input} />
    </Around>
  );
}

export function TextArea(props: About & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId();
  const [about, rest] = split(props);
  return (
    <Around {...about} id={id}>
      <textarea {...rest} {...described(id, about)} id={id} className={styles.input} />
    </Around>
  );
}

export function SelectField(props: About & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId();
  const [about, rest] = split(props);
  return (
    <Around {...about} id={id}>
      <select {...rest} {...described(id, about)} id={id} className={styles.input} />
    </Around>
  );
}

export function CheckField({ label, help, ...rest }: About & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  return (
    <div className={styles.check}>
      <input {...rest} {...described(id, { label, help })} type="checkbox" id={id} />
      <label htmlFor={id}>{label}</label>
      {help && (
        <p id={`${id}-help`} className={styles.help}>
          {help}
        </p>
      )}
    </div>
  );
}
