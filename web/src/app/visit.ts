// When the person had last looked at an attempt before they opened it this time. Opening it is a look as well, which
// the server hears of at once; what they had seen until then is only known here.

const before = new Map<string, string | null>();

/** An attempt is opened; `seenAt` is what the server knew until now. */
export const beginVisit = (attempt: string, seenAt: string | null) => void before.set(attempt, seenAt);

/** Null when they have never looked. */
export const lastLook = (attempt: string): string | null => before.get(attempt) ?? null;
