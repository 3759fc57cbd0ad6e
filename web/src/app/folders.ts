// Looking at folders on the server's machine: what is in one, and which repositories there are. Only the person's home
// and known projects are shown; the server says so of the rest.

import { useQuery } from "@tanstack/react-query";
import { get } from "../api/client";
import type { DirectoryEntry, DirectoryListResponse } from "../api/types";
import { world } from "../api/world";
import { keyOf } from "./queries";

/** The folder at a path; the home when there is none. What was shown stays until the next answer is there. */
export const useFolder = (path: string, isOn = true) =>
  useQuery({
    queryKey: keyOf.settings("folder", path),
    queryFn: ({ signal }) =>
      get<DirectoryListResponse>(
        `/filesystem/directory${path ? `?path=${encodeURIComponent(path)}` : ""}`,
        signal,
      ),
    enabled: isOn,
    staleTime: 5_000,
    placeholderData: (before) => before,
  });

/** Repositories in the home, those that changed last first. Worktrees of attempts are none to add. */
export const useRepositories = () =>
  useQuery({
    queryKey: keyOf.settings("repositories"),
    queryFn: async ({ signal }) => {
      const found = await get<DirectoryEntry[]>("/filesystem/git-repos", signal);
      const own = new Set([...world().attempts.values()].map((attempt) => attempt.worktree_path));
      return found.filter(({ path }) => !own.has(path));
    },
    staleTime: 15_000,
  });
