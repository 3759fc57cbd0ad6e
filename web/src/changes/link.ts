// The file that the address names: it is gone to once, and the address follows the choice of another.

import { useEffect, useRef } from "react";
import { useSearchParams } from "wouter";

export function useFileLink(
  files: readonly { path: string }[],
  isKnown: boolean,
  to: (path: string) => void,
) {
  const [search, setSearch] = useSearchParams();
  const asked = search.get("file");
  const gone = useRef<string | null>(null);
  const isThere = asked !== null && files.some((file) => file.path === asked);
  useEffect(() => {
    if (!asked || !isThere || gone.current === asked) return;
    gone.current = asked;
    to(asked);
  });
  return {
    missing: isKnown && asked !== null && !isThere ? asked : null,
    choose(path: string) {
      gone.current = path;
      to(path);
      setSearch(
        (now) => {
          const next = new URLSearchParams(now);
          next.set("file", path);
          return next;
        },
        { replace: true },
      );
    },
  };
}
