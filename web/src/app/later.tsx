// A part of the board whose script is loaded when it is first shown, or ahead of that. What is there already is drawn
// at once: a part that only waits for its turn would show its placeholder first, and React holds that for a while.

import { type ComponentType, lazy, useState } from "react";
import { whenBack } from "../api/live";
import { mendStyles } from "./styles";

export type Later<Props> = ComponentType<Props> & {
  /** Loads the script now. */
  ahead(): Promise<unknown>;
};

/** A part that cannot be loaded is not asked for again within so many milliseconds. */
const PAUSE = 2000;

export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): Later<Props> {
  let known: ComponentType<Props> | null = null;
  let coming: Promise<ComponentType<Props>> | null = null;
  let failed = 0;

  /** Loads it, after an absence of the server once more. */
  const loaded = async (): Promise<ComponentType<Props>> => {
    for (;;) {
      try {
        const part = await load();
        await mendStyles();
        return part;
      } catch (error) {
        // While the server is away there is nothing to ask, and the page waits.
        if (!(await whenBack())) throw error;
      }
    }
  };
  const ahead = () => {
    coming ??= loaded().then(
      (part) => {
        known = part;
        return part;
      },
      (error) => {
        coming = null;
        failed = Date.now();
        throw error;
      },
    );
    return coming;
  };
  const placeholder = () => lazy(async () => ({ default: await ahead() }));
  let waiting = placeholder();
  /** A part that was tried in vain keeps its error for a while, or each drawing would try again at once. */
  const choose = (): ComponentType<Props> => {
    if (known) return known;
    if (failed > 0 && Date.now() - failed > PAUSE) [waiting, failed] = [placeholder(), 0];
    return waiting as unknown as ComponentType<Props>;
  };

  return Object.assign((props: Props) => <Chosen choose={choose} props={props} />, { ahead });
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
