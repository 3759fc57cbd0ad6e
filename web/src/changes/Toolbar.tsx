// The head of the changes: how much changed against what, which part of it is shown, and how.

import type { AttemptSnapshot } from "../api/types";
import { shown } from "../app/keys";
import { prefer, usePreferences } from "../app/preferences";
import { MenuButton, type MenuItem } from "../ui/Menu";
import { counted } from "../ui/numbers";
import styles from "./Changes.module.css";
import { Counts } from "./FileHead";
import type { ChangedFile } from "./files";
import type { Scope } from "./store";

type Props = {
  scope: Scope;
  setScope: (scope: Scope) => void;
  snapshots: readonly AttemptSnapshot[];
  since: Scope;
  files: readonly ChangedFile[];
  target: string;
  behind: number;
  isSplit: boolean;
  canSplit: boolean;
  isSpaceIgnored: boolean;
  setSpaceIgnored: (isIgnored: boolean) => void;
  areAllOpen: boolean;
  setAllOpen: (isOpen: boolean) => void;
};

export function Toolbar(props: Props) {
  const { scope, setScope, snapshots, since, files, target, behind, isSplit, canSplit } = props;
  const { diffColours } = usePreferences();
  const turns = turnsOf(snapshots);
  const isSince = scope !== null && scope.from === since?.from && scope.to === since.to;
  const chosen = isSince ? SINCE : turns.find((turn) => turn.to === scope?.to);
  const scopes = (): MenuItem[] => [
    { words: "All changes", isChosen: scope === null, run: () => setScope(null) },
    {
      ...SINCE,
      isChosen: isSince,
      disabled: since === null && "There is nothing newer than your last look.",
      run: () => setScope(since),
    },
    ...turns.map((turn) => ({
      words: turn.words,
      isChosen: turn.to === scope?.to,
      run: () => setScope({ from: turn.from, to: turn.to }),
      about: turn.about,
    })),
  ];
  const views = (): MenuItem[] => [
    {
      words: "Unified",
      isChosen: !isSplit,
      hint: shown("u"),
      run: () => prefer({ diffView: "unified" }),
    },
    {
      words: "Split",
      isChosen: isSplit,
      hint: shown("u"),
      run: () => prefer({ diffView: "split" }),
      disabled: !canSplit && "The pane is too narrow.",
    },
    "line",
    {
      words: props.isSpaceIgnored ? "Show changes of whitespace" : "Hide changes of whitespace",
      hint: shown("w"),
      run: () => props.setSpaceIgnored(!props.isSpaceIgnored),
    },
    {
      words: props.areAllOpen ? "Fold all files" : "Show all files",
      run: () => props.setAllOpen(!props.areAllOpen),
    },
    {
      words: diffColours === "red-green" ? "Blue and orange" : "Green and red",
      run: () => prefer({ diffColours: diffColours === "red-green" ? "blue-orange" : "red-green" }),
    },
  ];
  const sum = (of: "added" | "deleted") => files.reduce((total, file) => total + file[of], 0);
  return (
    <div className={styles.toolbar}>
      <span className={styles.sum}>
        {counted(files.length, "file")}
        <Counts added={sum("added")} deleted={sum("deleted")} />
        <span className={styles.base}>
          base {target}
          {behind > 0 && ` (${behind} behind)`}
        </span>
      </span>
      <MenuButton size="small" kind="quiet" label={`Shown: ${chosen?.words ?? "All changes"}`} items={scopes}>
        {chosen?.words ?? "All changes"}
      </MenuButton>
      <MenuButton size="small" kind="quiet" label={`View: ${isSplit ? "Split" : "Unified"}`} items={views}>
        {isSplit ? "Split" : "Unified"}
      </MenuButton>
    </div>
  );
}

const SINCE = { words: "Since I last looked" };

/** The turns that can be looked at alone: each from the snapshot before it, or the beginning, to its own. */
export function turnsOf(snapshots: readonly AttemptSnapshot[]) {
  const oldest = [...snapshots].reverse();
  const turns = oldest.flatMap((snapshot, index) => {
    if (snapshot.why !== "turn") return [];
    const { changes } = snapshot;
    const count = changes ? changes.added + changes.changed + changes.deleted : null;
    return [
      {
        to: snapshot.id,
        from: oldest[index - 1]?.id ?? "start",
        about: count === null ? undefined : counted(count, "file"),
        words: "",
      },
    ];
  });
  turns.forEach((turn, index) => {
    turn.words = `Turn ${index + 1}`;
  });
  return turns.reverse();
}
