// Adding a project: choose a folder by typing or by looking around, see what was found in it, add it.

import { type FormEvent, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { postOnce, sentenceOf } from "../api/client";
import type { CreateProject, DirectoryEntry, Project } from "../api/types";
import { assume, sameList, useWorld } from "../api/world";
import { useFolder } from "../app/folders";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { TextArea, TextField } from "../ui/Field";
import styles from "./AddProject.module.css";
import { FolderBrowser } from "./FolderBrowser";
import { nameOf, splitTyped, suggest } from "./found";

type Props = { path?: string; onClose: () => void };

export function AddProject({ path, onClose }: Props) {
  const [typed, setTyped] = useState(path ?? "");
  const [chosen, setChosen] = useState<string | null>(path ?? null);
  const paths = useWorld((world) => [...world.projects.values()].map((it) => it.git_repo_path), sameList);
  const taken = useMemo(() => new Set(paths), [paths]);
  const choose = (entry: Pick<DirectoryEntry, "path">) => {
    setTyped(entry.path);
    setChosen(entry.path);
  };
  const type = (text: string) => {
    setTyped(text);
    setChosen(null);
  };
  return (
    <Dialog title="Add a project" onClose={onClose}>
      <div className={styles.choose}>
        <TextField
          label="Folder"
          placeholder="/home/you/code/shop-api"
          value={typed}
          autoFocus={!path}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => type(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && typed.includes("/")) {
              event.preventDefault();
              choose({ path: typed.replace(/(.)\/+$/, "$1") });
            }
          }}
        />
        {chosen === null && <FolderBrowser typed={typed} onType={type} onChoose={choose} taken={taken} />}
      </div>
      {chosen !== null && (
        <Chosen
          key={chosen}
          path={chosen}
          isTaken={taken.has(chosen)}
          onOther={() => type(`${splitTyped(chosen).folder}/`)}
          onDone={onClose}
        />
      )}
    </Dialog>
  );
}

type ChosenProps = { path: string; isTaken: boolean; onOther: () => void; onDone: () => void };

/** What was found in the folder that was chosen, as fields to edit. */
function Chosen({ path, isTaken, onOther, onDone }: ChosenProps) {
  // The folder itself says which files there are; the one above it, whether it is a repository.
  const inside = useFolder(path);
  const around = useFolder(splitTyped(path).folder);
  const itself = around.data?.entries.find((entry) => entry.path === path);
  const isGit = itself?.is_git_repo ?? around.error !== null;
  if (inside.error)
    return (
      <div className={styles.found} role="alert">
        <p>{inside.error.message}</p>
        <Button onClick={onOther}>Choose another</Button>
      </div>
    );
  if (!inside.data || inside.isPlaceholderData || around.isPending || around.isPlaceholderData) return null;
  if (isTaken)
    return (
      <div className={styles.found}>
        <p>{nameOf(path)} is a project already.</p>
        <Button onClick={onOther}>Choose another</Button>
      </div>
    );
  const files = inside.data.entries.map((entry) => entry.name);
  return <Fields path={path} files={files} isGit={isGit} onOther={onOther} onDone={onDone} />;
}

type FieldsProps = {
  path: string;
  files: readonly string[];
  isGit: boolean;
  onOther: () => void;
  onDone: () => void;
};

function Fields({ path, files, isGit, onOther, onDone }: FieldsProps) {
  const [, go] = useLocation();
  const found = useMemo(() => suggest(files), [files]);
  const [name, setName] = useState(nameOf(path));
  const [setup, setSetup] = useState(found.setup);
  const [dev, setDev] = useState(found.dev);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy || !name.trim()) return;
    setBusy(true);
    setProblem(null);
    const body: CreateProject = {
      name: name.trim(),
      git_repo_path: path,
      use_existing_repo: isGit,
      setup_script: setup.trim() || null,
      dev_script: dev.trim() || null,
    };
    try {
      const project = await postOnce<Project>("/projects", body);
      assume("projects", project.id, project);
      onDone();
      go(`/p/${project.id}`);
    } catch (error) {
      setProblem(sentenceOf(error));
      setBusy(false);
    }
  };
  return (
    <form className={styles.fields} onSubmit={add}>
      {isGit ? (
        <p className={styles.about}>
          Found: {["git", ...found.about].join(", ")}. Everything below can be changed later.
        </p>
      ) : (
        <p className={styles.about}>This folder has no git history.</p>
      )}
      <TextField label="Name" value={name} required onChange={(event) => setName(event.target.value)} />
      <TextArea
        label="Setup script"
        help="Runs in each new worktree before the agent begins."
        rows={2}
        value={setup}
        spellCheck={false}
        onChange={(event) => setSetup(event.target.value)}
      />
      <TextField
        label="Dev server"
        help="How to look at the work in a browser. Its port is in $FORGE_DEV_PORT."
        value={dev}
        spellCheck={false}
        onChange={(event) => setDev(event.target.value)}
      />
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
      <div className={styles.foot}>
        <Button onClick={onOther}>Choose another</Button>
        <Button
          kind="primary"
          submit
          autoFocus
          busy={isBusy && "Adding"}
          disabled={!name.trim() && "It needs a name."}
        >
          {isGit ? "Add project" : "Create it here"}
        </Button>
      </div>
    </form>
  );
}
