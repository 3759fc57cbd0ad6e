// Everything the palette can lead to: actions that can be done now, attempts and tasks, projects, settings.

import type { World } from "../api/world";
import { agentWord } from "../facts/agents";
import { indexOf } from "../facts/index-of";
import { LOOKS } from "../facts/state";
import type { IconName } from "../ui/Icon";
import { type ActionId, actionOf } from "./actions";
import { best } from "./find";
import { SECTIONS } from "./sections";

export type Place = {
  id: string;
  icon: IconName;
  words: string;
  /** A few words in grey: where it belongs. */
  about: string;
  /** The keys that do the same. */
  keys: readonly string[];
  /** Where it leads; an action is done instead. */
  to: string | null;
  action: ActionId | null;
};

const MOST = 50;
const RECENT = 8;

/** What fits, the best first. `>` asks for actions only, `#` for tasks, `@` for attempts by their agent. */
export function placesFor(typed: string, offered: readonly ActionId[], world: World): Place[] {
  const [, sign = "", rest = ""] = /^([>#@]?)\s*(.*)$/s.exec(typed) ?? [];
  const isEmpty = rest.trim() === "";
  if (sign === ">") return found(actions(offered), rest);
  if (sign === "#") return found(tasks(world), rest);
  if (sign === "@")
    return best(agents(world), rest, (place) => `${place.about} ${place.words}`, MOST).map((it) => it.thing);
  if (isEmpty) return [...actions(offered).slice(0, 12), ...tasks(world).slice(0, RECENT)];
  return found([...actions(offered), ...projects(world), ...settings(), ...tasks(world)], rest);
}

const found = (places: readonly Place[], typed: string) =>
  best(places, typed, (place) => place.words, MOST).map(({ thing }) => thing);

function actions(offered: readonly ActionId[]): Place[] {
  return offered
    .filter((id) => !actionOf(id).keyOnly)
    .map((id) => ({
      id: `action:${id}`,
      icon: "right",
      words: actionOf(id).words,
      about: "",
      keys: actionOf(id).keys,
      to: null,
      action: id,
    }));
}

/** Tasks, those that changed last first. */
function tasks(world: World): Place[] {
  const { factsOf } = indexOf(world);
  return [...world.tasks.values()]
    .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
    .map((task) => {
      const state = factsOf(task.id)?.state ?? "unknown";
      const project = world.projects.get(task.project_id)?.name;
      return {
        id: `task:${task.id}`,
        icon: LOOKS[state].icon ?? "file",
        words: task.title,
        about: [LOOKS[state].words, project].filter(Boolean).join(" · "),
        keys: [],
        to: `/t/${task.id}`,
        action: null,
      };
    });
}

function agents(world: World): Place[] {
  const { factsOfAttempt } = indexOf(world);
  return [...world.attempts.values()]
    .sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
    .map((attempt) => {
      const state = factsOfAttempt(attempt.id)?.state ?? "unknown";
      const title = attempt.task_id ? world.tasks.get(attempt.task_id)?.title : undefined;
      return {
        id: `attempt:${attempt.id}`,
        icon: LOOKS[state].icon ?? "file",
        words: title ?? attempt.branch,
        about: `${agentWord(attempt.executor)} · ${LOOKS[state].words}`,
        keys: [],
        to: `/a/${attempt.id}`,
        action: null,
      };
    });
}

const projects = (world: World): Place[] =>
  [...world.projects.values()].map((project) => ({
    id: `project:${project.id}`,
    icon: "folder",
    words: project.name,
    about: "project",
    keys: [],
    to: `/p/${project.id}`,
    action: null,
  }));

const settings = (): Place[] =>
  SECTIONS.map(({ id, words }) => ({
    id: `settings:${id}`,
    icon: "gear",
    words: `Settings: ${words}`,
    about: "",
    keys: [],
    to: `/settings/${id}`,
    action: null,
  }));
