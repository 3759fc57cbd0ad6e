// Answering what an agent asks: once, with the server's word beside the button. A request that has only just come up is
// not answered yet, so that a click or key meant for what stood there before does not hit it.

import { useEffect, useRef, useState } from "react";
import { post, sentenceOf } from "../api/client";
import { useConnection } from "../api/live";
import type { Approval, ApprovalResponse } from "../api/types";

/** How long a request stands before it takes an answer. */
export const GUARD = 600;

export type Answering = {
  /** The word of what is going on: "Allowing". It stays until the server has told that the ask is answered. */
  busy: string | null;
  /** Which of the two was pressed. */
  said: boolean | null;
  problem: string | null;
  /** Why no answer can be sent now. */
  off: string | null;
  /** Sends the answer; nothing happens while the request is too new or another answer is under way. */
  answer: (approved: boolean, more?: Omit<ApprovalResponse, "approved">) => void;
};

const WORDS = {
  permission: ["Denying", "Allowing"],
  question: ["Sending", "Sending"],
  plan: ["Sending", "Sending"],
} as const;

type Now = { ask: string | undefined; said: boolean | null; problem: string | null };

/** The state of answering one ask. With another ask it begins anew. */
export function useAnswer(ask: Approval | null): Answering {
  const id = ask?.approval_id;
  const isAway = useConnection().state === "away";
  const [now, setNow] = useState<Now>({ ask: id, said: null, problem: null });
  const shown = useRef({ id, at: performance.now() });
  useEffect(() => {
    shown.current = { id, at: performance.now() };
  }, [id]);
  const current = now.ask === id ? now : { ask: id, said: null, problem: null };
  return {
    busy: ask && current.said !== null ? WORDS[ask.kind][current.said ? 1 : 0] : null,
    said: current.said,
    problem: current.problem,
    off: isAway ? "The server is away." : null,
    answer(approved, more = {}) {
      if (!ask || current.said !== null) return;
      if (shown.current.id !== id || performance.now() - shown.current.at < GUARD) return;
      setNow({ ask: id, said: approved, problem: null });
      post(`/approvals/${ask.approval_id}/respond`, { approved, ...more }).catch((error) =>
        setNow({ ask: id, said: null, problem: sentenceOf(error) }),
      );
    },
  };
}
