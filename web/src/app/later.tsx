// A part of the board whose script is loaded when it is first shown, or ahead of that. What is there already is drawn
// at once: a part that only waits for its turn would show its placeholder first, and React holds that for a while.

import { type ComponentType, lazy, useState } from "react";

export type Later<Props> = ComponentType<Props> & {
  /** Loads the script now. */
  ahead(): Promise<unknown>;
};

export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): Later<Props> {
  let known: ComponentType<Props> | null = null;
  let coming: Promise<ComponentType<Props>> | null = null;

  const ahead = () => {
    coming ??= load().then(
      (part) => {
        known = part;
        return part;
      },
      (error) => {
        // The next one that is shown tries again.
        coming = null;
        waiting = placeholder();
        throw error;
      },
    );
    return coming;
  };
  const placeholder = () => lazy(async () => ({ default: await ahead() }));
  let waiting = placeholder();

  return Object.assign(
    (props: Props) => (
      <Chosen choose={() => known ?? (waiting as unknown as ComponentType<Props>)} props={props} />
    ),
    { ahead },
  );
}

function Chosen<Props extends object>({
  choose,
  props,
}: {
  choose: () => ComponentType<Props>;
  props: Props;
}) {
  // What is drawn stays what it is: to change it would lose its state.
  const [Part] = useState(choose);
  return <Part {...props} />;
}
