// The projects in the order in which every list has them: by name.

import type { Project } from "../api/types";
import type { World } from "../api/world";

/** Plain names are compared as they stand: a browser takes a while to learn how a language orders its letters. */
const PLAIN = /^[\w .-]*$/;
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

export function projectsByName(world: Pick<World, "projects">): Project[] {
  const projects = [...world.projects.values()];
  if (!projects.every(({ name }) => PLAIN.test(name)))
    return projects.sort((a, b) => a.name.localeCompare(b.name));
  return projects.sort((a, b) => compare(a.name.toLowerCase(), b.name.toLowerCase()));
}
