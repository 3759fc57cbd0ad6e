// Saving one value: what is going on, and what the server said against it.

import { useRef, useState } from "react";
import { put, sentenceOf } from "../api/client";
import type { Config, UserSystemInfo } from "../api/types";
import { INFO } from "../app/info";
import { queries } from "../app/queries";

export type Saving = { isBusy: boolean; saved: boolean; problem: string | null };

const IDLE: Saving = { isBusy: false, saved: false, problem: null };

/** Saves with `save`; the newest call counts. */
export function useSaving<T>(save: (value: T) => Promise<unknown>) {
  const [state, setState] = useState<Saving>(IDLE);
  const newest = useRef(0);
  const commit = async (value: T) => {
    newest.current += 1;
    const mine = newest.current;
    const tell = (next: Saving) => mine === newest.current && setState(next);
    tell({ ...IDLE, isBusy: true });
    try {
      await save(value);
      tell({ ...IDLE, saved: true });
    } catch (error) {
      tell({ ...IDLE, problem: sentenceOf(error) });
    }
  };
  return { ...state, commit, reset: () => setState(IDLE) };
}

/**
 * Lays keys over the server's settings. Sections are laid key by key, so only what changes is sent: what this page
 * believes of the rest may be old.
 */
export async function saveConfig(change: Record<string, unknown>) {
  const config = await put<Config>("/config", change);
  queries.setQueryData<UserSystemInfo>(INFO, (info) => info && { ...info, config });
}
