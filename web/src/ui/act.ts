// One act at a time: the word of what is going on, and the server's sentence when it did not happen.

import { useCallback, useEffect, useRef, useState } from "react";
import { sentenceOf } from "../api/client";

export type Act = {
  /** The word of what is going on: "Stopping". */
  busy: string | null;
  problem: string | null;
  /** Does it, unless something is going on; true when it happened. */
  run(word: string, act: () => Promise<unknown>): Promise<boolean>;
  clear(): void;
};

export function useAct(): Act {
  const [state, setState] = useState<{ busy: string | null; problem: string | null }>({
    busy: null,
    problem: null,
  });
  const isBusy = useRef(false);
  const isThere = useRef(true);
  useEffect(() => {
    isThere.current = true;
    return () => {
      isThere.current = false;
    };
  }, []);
  const run = useCallback(async (word: string, act: () => Promise<unknown>) => {
    if (isBusy.current) return false;
    isBusy.current = true;
    setState({ busy: word, problem: null });
    try {
      await act();
      if (isThere.current) setState({ busy: null, problem: null });
      return true;
    } catch (error) {
      if (isThere.current) setState({ busy: null, problem: sentenceOf(error) });
      return false;
    } finally {
      isBusy.current = false;
    }
  }, []);
  const clear = useCallback(() => setState({ busy: null, problem: null }), []);
  return { ...state, run, clear };
}
