// A button. It always has a name; one that cannot be pressed says why, where everybody can read it.

import { type ButtonHTMLAttributes, type ReactNode, useCallback, useId, useState } from "react";
import styles from "./Button.module.css";
import { Icon, type IconName } from "./Icon";
import { Why } from "./Why";

export type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "disabled" | "type"> & {
  kind?: "plain" | "primary" | "quiet" | "danger" | "ask";
  size?: "normal" | "small";
  icon?: IconName;
  /** The name of a button that shows only an icon, or a fuller name than its words. */
  label?: string;
  /** A key that does the same, shown beside the words. */
  hint?: string;
  /** Why it cannot be pressed now. */
  disabled?: string | false | null;
  /** The word of what is going on after it was pressed: "Merging". */
  busy?: string | false | null;
  submit?: boolean;
  /** Has the focus when its dialog opens. */
  "data-autofocus"?: boolean;
  /** A finger rests on it. */
  "data-held"?: boolean;
  children?: ReactNode;
};

export function Button({
  kind = "plain",
  size = "normal",
  icon,
  label,
  hint,
  disabled,
  busy,
  submit,
  children,
  className,
  onClick,
  ...rest
}: ButtonProps) {
  const why = useId();
  const [asked, setAsked] = useState<HTMLElement | null>(null);
  const forget = useCallback(() => setAsked(null), []);
  const isOff = Boolean(disabled) || Boolean(busy);
  return (
    <button
      {...rest}
      type={submit ? "submit" : "button"}
      className={`${styles.button} ${className ?? ""}`}
      data-kind={kind}
      data-size={size}
      data-bare={!children || undefined}
      aria-label={label}
      title={rest.title ?? (disabled || (children ? undefined : label))}
      // It stays reachable, so that whoever cannot see it greyed out hears why.
      aria-disabled={isOff || undefined}
      aria-describedby={disabled ? why : rest["aria-describedby"]}
      onClick={
        isOff
          ? (event) => {
              event.preventDefault();
              if (disabled) setAsked(event.currentTarget);
            }
          : onClick
      }
    >
      {icon && <Icon name={icon} size={size === "small" ? 14 : 16} />}
      {busy ? `${busy}…` : children}
      {hint && !busy && <kbd aria-hidden="true">{hint}</kbd>}
      {disabled && (
        // Hidden, so that it describes the button and is no part of its name.
        <span id={why} hidden>
          {disabled}
        </span>
      )}
      {disabled && asked && <Why text={disabled} of={asked} onClose={forget} />}
    </button>
  );
}
