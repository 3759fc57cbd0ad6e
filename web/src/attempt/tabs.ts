// Which pane is shown, from the address: a link to a tab leads there, and Back goes back.

import { useSearchParams } from "wouter";

export const TABS = ["changes", "runs", "preview", "snapshots"] as const;
export type Tab = (typeof TABS)[number];
/** On a phone one thing is shown at a time. */
export type PhoneTab = "chat" | Tab | "land";

export function useTab() {
  const [search, setSearch] = useSearchParams();
  const asked = search.get("tab");
  const tab = TABS.find((tab) => tab === asked) ?? null;
  return {
    /** The tab of the right pane. */
    tab: tab ?? ("changes" as Tab),
    phone: (tab ?? (asked === "land" ? "land" : "chat")) as PhoneTab,
    entry: search.get("entry"),
    between: search.get("from") ? { from: search.get("from") as string, to: search.get("to") } : null,
    show(tab: PhoneTab, more: Record<string, string | null> = {}) {
      setSearch((now) => {
        const next = new URLSearchParams(now);
        if (tab === "chat") next.delete("tab");
        else next.set("tab", tab);
        for (const key of ["from", "to"]) next.delete(key);
        for (const [key, value] of Object.entries(more))
          value === null ? next.delete(key) : next.set(key, value);
        return next;
      });
    },
  };
}
