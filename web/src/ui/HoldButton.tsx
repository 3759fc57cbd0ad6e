// A button for what must not happen by chance: a finger holds it, anything else presses it.

import { Button, type ButtonProps } from "./Button";
import styles from "./HoldButton.module.css";
import { isTouched, useHold } from "./hold";

type Props = Omit<ButtonProps, "onClick" | "children" | "label"> & {
  /** What it does: "Allow". Where fingers point it reads "Hold to allow". */
  verb: string;
  /** What it does it to, as a part of its name. */
  of?: string;
  onClick: () => void;
};

export function HoldButton({ verb, of, onClick, ...rest }: Props) {
  const isOff = Boolean(rest.disabled) || Boolean(rest.busy);
  const { isHeld, handlers } = useHold(() => !isOff && onClick());
  const words = isTouched() ? `Hold to ${verb.toLowerCase()}` : verb;
  return (
    <Button
      {...rest}
      {...handlers}
      className={styles.hold}
      data-held={isHeld || undefined}
      label={of ? `${words}: ${of}` : undefined}
    >
      {words}
    </Button>
  );
}
