// Folders to choose from: the repositories that changed last while nothing is typed, then what is in the typed folder.
// Repositories come first and are marked.

import type { ReactNode } from "react";
import type { DirectoryEntry } from "../api/types";
import { useFolder, useRepositories } from "../app/folders";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { age } from "../ui/time";
import styles from "./AddProject.module.css";
import { splitTyped } from "./found";

type Props = {
  /** What stands in the path box; it is also what the list is filtered by. */
  typed: string;
  onType: (path: string) => void;
  onChoose: (entry: DirectoryEntry) => void;
  /** Folders that are projects already. */
  taken: ReadonlySet<string>;
};

export function FolderBrowser({ typed, onType, onChoose, taken }: Props) {
  const { folder, begin } = splitTyped(typed);
  const listing = useFolder(folder);
  const repositories = useRepositories();
  const here = listing.data?.current_path ?? folder;
  const needle = begin.toLowerCase();
  const folders = (listing.data?.entries ?? [])
    .filter((entry) => entry.is_directory && entry.name.toLowerCase().startsWith(needle))
    .sort((a, b) => Number(b.is_git_repo) - Number(a.is_git_repo) || a.name.localeCompare(b.name));
  const recent = typed ? [] : (repositories.data ?? []).filter(({ path }) => !taken.has(path)).slice(0, 5);
  const above = here.replace(/\/[^/]+\/?$/, "");
  const row = (entry: DirectoryEntry, place?: string): ReactNode => (
    <li key={(place ?? "") + entry.path}>
      <button
        type="button"
        className={styles.folder}
        onClick={() => (entry.is_git_repo ? onChoose(entry) : onType(`${entry.path}/`))}
      >
        <Icon name={entry.is_git_repo ? "fork" : "folder"} size={14} />
        <span>{place ? entry.path : entry.name}</span>
        <small>
          {taken.has(entry.path)
            ? "already a project"
            : entry.is_git_repo
              ? `git${entry.last_modified === null ? "" : `, ${age(entry.last_modified * 1000)}`}`
              : ""}
        </small>
      </button>
    </li>
  );
  return (
    <div className={styles.browser}>
      {recent.length > 0 && (
        <>
          <h3>Changed last</h3>
          <ul aria-label="Changed last">{recent.map((entry) => row(entry, "recent:"))}</ul>
        </>
      )}
      <div className={styles.here}>
        <h3>{here || "Home"}</h3>
        {above !== "" && folder !== "" && (
          <Button size="small" kind="quiet" icon="left" onClick={() => onType(`${above}/`)}>
            Up
          </Button>
        )}
        <Button
          size="small"
          kind="quiet"
          onClick={() =>
            onChoose({ name: "", path: here, is_directory: true, is_git_repo: false, last_modified: null })
          }
        >
          Use this folder
        </Button>
      </div>
      {listing.error ? (
        <p role="alert" className={styles.problem}>
          {listing.error.message}
        </p>
      ) : (
        <ul aria-label="Folders">
          {folders.map((entry) => row(entry))}
          {listing.data && folders.length === 0 && (
            <li className={styles.none}>
              {begin ? `No folder begins with “${begin}”.` : "No folders here."}
            </li>
          )}
        </ul>
      )}
    </div>
  );
}
