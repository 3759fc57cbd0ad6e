// The names of agents and their variants as people say them.

import { useInfo } from "../app/info";

/** "Claude Code" for `CLAUDE_CODE`. */
export function useAgentTitle(executor: string): string {
  const { data } = useInfo();
  const title = data?.agents.find((agent) => agent.executor === executor)?.title;
  return title ?? plain(executor);
}

/** "default" for the variant that is meant when none is named. */
export const variantWords = (variant: string | null | undefined) =>
  !variant || variant === "GENIE" || variant === "DEFAULT"
    ? "default"
    : variant.toLowerCase().replaceAll("_", " ");

const plain = (name: string) => {
  const words = name.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};
