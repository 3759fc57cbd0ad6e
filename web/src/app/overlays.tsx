// What opens over a page: the palette, the keys, a new task, a new project. One at a time; each is loaded when first used.

import { Suspense, useSyncExternalStore } from "react";
import { Boundary } from "../ui/Boundary";
import { AddProject, KeysHelp, Palette, StartDialog, TaskDialog } from "./parts";

export type Overlay =
  | { name: "palette" }
  | { name: "keys" }
  /** `task` edits one, `copy` begins with the words of another, `parent` makes a subtask of that attempt. */
  | { name: "new task"; project: string | null; task?: string; copy?: string; parent?: string }
  /** Starts an attempt of a task, with a choice of agent and branch. */
  | { name: "start"; task: string }
  /** `path` is a folder that was chosen already. */
  | { name: "add project"; path?: string };

let current: Overlay | null = null;
const watchers = new Set<() => void>();

export function openOverlay(overlay: Overlay | null) {
  current = overlay;
  for (const changed of watchers) changed();
}

export function Overlays() {
  const overlay = useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => void watchers.delete(changed);
    },
    () => current,
  );
  const close = () => openOverlay(null);
  return (
    <Boundary what="This dialog" at={overlay?.name}>
      <Suspense>{overlay && shown(overlay, close)}</Suspense>
    </Boundary>
  );
}

function shown(overlay: Overlay, close: () => void) {
  switch (overlay.name) {
    case "palette":
      return <Palette onClose={close} />;
    case "keys":
      return <KeysHelp onClose={close} />;
    case "new task":
      return <TaskDialog {...overlay} onClose={close} />;
    case "start":
      return <StartDialog task={overlay.task} onClose={close} />;
    case "add project":
      return <AddProject path={overlay.path} onClose={close} />;
  }
}
