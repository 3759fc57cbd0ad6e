// Why what needs the server cannot be done now.

import { useConnection } from "../api/live";

/** The reason for a button that needs the server; null while the server is there. */
export const useAway = (): string | null => (useConnection().state === "away" ? "The server is away." : null);
