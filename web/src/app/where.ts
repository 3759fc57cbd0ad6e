// Where the person is: the project that the present page is about.

import { useLocation } from "wouter";
import { useWorld } from "../api/world";

/** The id of the project of the board, task or attempt that is open; null on pages of all projects. */
export function useProjectHere(): string | null {
  const [place] = useLocation();
  const [, kind, id] = place.split("/");
  return useWorld((world) => {
    if (!id) return null;
    if (kind === "p") return id;
    if (kind === "t") return world.tasks.get(id)?.project_id ?? null;
    if (kind === "a") return world.attempts.get(id)?.project_id ?? null;
    return null;
  });
}
