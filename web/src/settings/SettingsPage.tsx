// The settings: a list of sections, and the one that is open. Each value is saved by itself, with the word beside it.

import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { begin, useWorld, type World } from "../api/world";
import { KeysTable } from "../app/KeysTable";
import { SECTIONS, type SectionId } from "../app/sections";
import { projectsByName } from "../facts/projects";
import { SelectField } from "../ui/Field";
import { Head } from "../ui/Head";
import { Empty, Failed, Loading } from "../ui/Nothing";
import { Agents } from "./Agents";
import { Disk } from "./Disk";
import { Editor } from "./Editor";
import { General } from "./General";
import { Git } from "./Git";
import { Mcp } from "./Mcp";
import { Notifications } from "./Notifications";
import { ProjectSettings } from "./ProjectSettings";
import styles from "./Settings.module.css";
import { Snippets } from "./Snippets";
import { Trash } from "./Trash";

const PAGES: Record<SectionId, () => ReactNode> = {
  general: General,
  agents: Agents,
  mcp: Mcp,
  notifications: Notifications,
  editor: Editor,
  git: Git,
  snippets: Snippets,
  disk: Disk,
  trash: Trash,
  keys: KeysTable,
};

export function SettingsPage({ section }: { section: string }) {
  const projects = useWorld(projectPairs, samePairs);
  const isKnown = useWorld((world) => world.isKnown);
  const problem = useWorld((world) => world.problem);
  const project = section.startsWith("project/") ? section.slice("project/".length) : null;
  const found = SECTIONS.find(({ id }) => id === section);
  const Page = found && PAGES[found.id];
  const title = project ? (projects.find(([id]) => id === project)?.[1] ?? "Project") : found?.words;
  return (
    <>
      <Head title={<span className={styles.title}>{title ?? "Settings"}</span>}>
        <SectionChoice section={section} projects={projects} />
      </Head>
      <div className={styles.settings}>
        <nav className={styles.sections} aria-label="Settings">
          {SECTIONS.map(({ id, words }) => (
            <SectionLink key={id} to={id} here={section} words={words} />
          ))}
          {projects.length > 0 && <h2>Projects</h2>}
          {projects.map(([id, name]) => (
            <SectionLink key={id} to={`project/${id}`} here={section} words={name} />
          ))}
        </nav>
        {/* What has nothing to focus in it still scrolls by key. */}
        <div className={styles.page} tabIndex={section === "keys" ? 0 : undefined}>
          <div className={styles.section}>
            {project ? (
              projects.some(([id]) => id === project) ? (
                <ProjectSettings key={project} id={project} />
              ) : isKnown ? (
                <Empty action={<Link href="/settings/general">Settings</Link>}>
                  There is nothing here. It may have been deleted.
                </Empty>
              ) : problem ? (
                <Failed what="The project is" error={problem} again={() => void begin()} />
              ) : (
                <Loading what="the project" />
              )
            ) : Page ? (
              <Page />
            ) : (
              <Empty action={<Link href="/settings/general">Settings</Link>}>There is nothing here.</Empty>
            )}
          </div>
        </div>
      </div>
    </>
  );
}

/** A phone has no room for the list: there the title is a choice of the same. */
function SectionChoice({ section, projects }: { section: string; projects: readonly Pair[] }) {
  const [, go] = useLocation();
  const isProject = projects.some(([id]) => section === `project/${id}`);
  return (
    <div className={styles.choice}>
      <SelectField
        label="Section of the settings"
        isLabelHidden
        value={section}
        onChange={(event) => go(`/settings/${event.target.value}`)}
      >
        {!isProject && !SECTIONS.some(({ id }) => id === section) && (
          <option value={section}>Settings</option>
        )}
        {SECTIONS.map(({ id, words }) => (
          <option key={id} value={id}>
            {words}
          </option>
        ))}
        {projects.length > 0 && (
          <optgroup label="Projects">
            {projects.map(([id, name]) => (
              <option key={id} value={`project/${id}`}>
                {name}
              </option>
            ))}
          </optgroup>
        )}
      </SelectField>
    </div>
  );
}

type Pair = readonly [id: string, name: string];

const projectPairs = (world: World): Pair[] =>
  projectsByName(world).map((project) => [project.id, project.name]);

const samePairs = (a: readonly Pair[], b: readonly Pair[]) =>
  a.length === b.length && a.every(([id, name], at) => id === b[at]?.[0] && name === b[at]?.[1]);

function SectionLink({ to, here, words }: { to: string; here: string; words: string }) {
  return (
    <Link href={`/settings/${to}`} className={styles.link} aria-current={to === here ? "page" : undefined}>
      {words}
    </Link>
  );
}
