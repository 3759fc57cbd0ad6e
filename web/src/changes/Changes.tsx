// What an attempt has changed: which of it is shown, everything or only what is new since the person last looked.

import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { get } from "../api/client";
import type { AttemptSnapshot } from "../api/types";
import { world } from "../api/world";
import { keyOf } from "../app/queries";
import { lastLook } from "../app/visit";
import { Loading } from "../ui/Nothing";
import { Diffs } from "./Diffs";
import { sinceLook } from "./since";
import type { Scope } from "./store";

export function Changes({ attempt }: { attempt: string }) {
  const [chosen, setScope] = useState<Scope | undefined>(undefined);
  const { data: snapshots, error } = useQuery({
    queryKey: keyOf.attempt(attempt, "snapshots"),
    queryFn: ({ signal }) => get<AttemptSnapshot[]>(`/task-attempts/${attempt}/snapshots`, signal),
  });
  const [look] = useState(() => lastLook(attempt));
  const [isNews] = useState(() => look !== null && isNewSince(attempt, look));
  // Asked once: what is done while the person reads does not change what they are shown.
  const since = useRef<Scope | undefined>(undefined);
  if (snapshots) since.current ??= sinceLook(snapshots, look);
  if (isNews && !snapshots && !error && chosen === undefined) return <Loading what="the changes" />;
  const scope = chosen === undefined ? (isNews && since.current) || null : chosen;
  return (
    <Diffs
      key={`${attempt} ${scope?.from} ${scope?.to}`}
      {...{ attempt, scope, setScope }}
      snapshots={snapshots ?? []}
      since={since.current ?? null}
    />
  );
}

/** Something came to its end, and the person was not there. */
function isNewSince(attempt: string, look: string): boolean {
  const it = world().attempts.get(attempt);
  return it !== undefined && !/running|waiting|queued/.test(it.state) && it.state_since > look;
}
