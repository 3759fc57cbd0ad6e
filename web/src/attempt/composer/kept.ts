// What this browser keeps of a message while the server cannot.

export type Kept = { prompt: string; image_ids: readonly string[] };

export const EMPTY: Kept = { prompt: "", image_ids: [] };

const key = (attempt: string) => `forge.draft.${attempt}`;

export function keptHere(attempt: string): Kept | null {
  try {
    const kept = JSON.parse(localStorage.getItem(key(attempt)) ?? "null") as Partial<Kept> | null;
    return kept?.prompt ? { ...EMPTY, ...kept } : null;
  } catch {
    return null;
  }
}

export function keepHere(attempt: string, kept: Kept) {
  try {
    if (kept.prompt || kept.image_ids.length > 0) localStorage.setItem(key(attempt), JSON.stringify(kept));
    else localStorage.removeItem(key(attempt));
  } catch {
    // A browser that keeps nothing still works; it only forgets.
  }
}
