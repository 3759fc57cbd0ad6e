// The colours of code, which come when its lines are on the screen.

import { useEffect, useState } from "react";
import type * as highlight from "./highlight";

export function usePaint(isWanted: boolean) {
  const [paint, setPaint] = useState<typeof highlight | null>(null);
  useEffect(() => {
    if (!isWanted) return;
    let isGone = false;
    const timer = setTimeout(
      () => void import("./highlight").then((loaded) => !isGone && setPaint(loaded)).catch(() => {}),
      100,
    );
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [isWanted]);
  return paint;
}
