// A dialog: the browser's own, so that focus, Esc and what lies behind it are the browser's business.

import { type ReactNode, useEffect, useId, useRef } from "react";
import { Button } from "./Button";
import styles from "./Dialog.module.css";

type Props = {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** An alert wants an answer: a click beside it does not close it. */
  isAlert?: boolean;
  width?: "narrow" | "normal" | "wide";
  footer?: ReactNode;
  /** Hides the visible head; the title stays as the name. */
  bare?: boolean;
};

export function Dialog({ title, onClose, children, isAlert, width = "normal", footer, bare }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    // The browser would choose the first button there is, which is the one that closes.
    const first = element?.querySelector<HTMLElement>("[data-autofocus]");
    (first ?? element?.querySelector<HTMLElement>("input, textarea, select"))?.focus();
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes it, which the browser does itself.
    <dialog
      ref={dialog}
      className={styles.dialog}
      data-width={width}
      role={isAlert ? "alertdialog" : undefined}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current && !isAlert) onClose();
      }}
    >
      <div className={styles.body}>
        <header className={bare ? "unseen" : styles.head}>
          <h2 id={heading}>{title}</h2>
          {!isAlert && !bare && <Button kind="quiet" icon="close" label="Close" onClick={onClose} />}
        </header>
        {children}
        {footer && <footer className={styles.foot}>{footer}</footer>}
      </div>
    </dialog>
  );
}

type ConfirmProps = {
  title: string;
  children?: ReactNode;
  /** The verb, which the button repeats. */
  verb: string;
  isDestructive?: boolean;
  busy?: string | false;
  problem?: string | null;
  onConfirm: () => void;
  onClose: () => void;
};

/** Asks before something that cannot be undone with one key. */
export function Confirm({
  title,
  children,
  verb,
  isDestructive,
  busy,
  problem,
  onConfirm,
  onClose,
}: ConfirmProps) {
  return (
    <Dialog
      title={title}
      isAlert
      width="narrow"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose} data-autofocus={isDestructive || undefined}>
            Cancel
          </Button>
          <Button
            kind={isDestructive ? "danger" : "primary"}
            busy={busy}
            onClick={onConfirm}
            data-autofocus={!isDestructive || undefined}
          >
            {verb}
          </Button>
        </>
      }
    >
      <div className={styles.text}>{children}</div>
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
    </Dialog>
  );
}
