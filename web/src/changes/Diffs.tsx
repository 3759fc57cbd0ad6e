// The changed files, and each file's lines with the person's comments.

import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import type { AttemptSnapshot } from "../api/types";
import { useWorld } from "../api/world";
import { useBranchStatus } from "../app/branch-status";
import { useActions } from "../app/keys";
import { prefer, preferences, usePreferences } from "../app/preferences";
import { Button } from "../ui/Button";
import { Empty, Failed, Loading } from "../ui/Nothing";
import { counted } from "../ui/numbers";
import { Place } from "../ui/place";
import { useFileActs } from "./acts";
import styles from "./Changes.module.css";
import { CommentBar } from "./CommentBar";
import { useComments } from "./comments";
import { FileDiff } from "./FileDiff";
import { FileTree } from "./FileTree";
import { foldedBecause, ordered } from "./files";
import { useFileLink } from "./link";
import { usePaint } from "./paint";
import { type Reader, ReaderContext } from "./reader";
import type { Row } from "./rows";
import { DiffStore, type Scope } from "./store";
import { Toolbar } from "./Toolbar";
import { useViewed } from "./viewed";
import { useWalk } from "./walk";

/** A pane narrower than this shows both sides in one column, whatever is preferred. */
const NARROW = 560;

type Props = {
  attempt: string;
  scope: Scope;
  setScope: (scope: Scope) => void;
  snapshots: readonly AttemptSnapshot[];
  /** What is new since the last look; null when that is everything or nothing. */
  since: Scope;
};

export function Diffs({ attempt, scope, setScope, snapshots, since }: Props) {
  const store = useMemo(() => new DiffStore(attempt, scope), [attempt, scope]);
  useEffect(() => store.start(), [store]);
  useSyncExternalStore(store.subscribe, () => store.version);
  const { data: status } = useBranchStatus(attempt);
  const isAtWork = useWorld((world) => /running|waiting/.test(world.attempts.get(attempt)?.state ?? ""));
  const target = useWorld((world) => world.attempts.get(attempt)?.target_branch ?? "its target");
  const { files: told } = store;
  const conflicted = status?.conflicted_files;
  const files = useMemo(() => ordered(told.values(), conflicted), [told, conflicted]);

  const isNow = scope === null || scope.to === "now";
  const comments = useComments(attempt);
  const { isViewed, mark } = useViewed(attempt, store, files);
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const { diffView } = usePreferences();
  const [isSpaceIgnored, setSpaceIgnored] = useState(false);
  const [width, setWidth] = useState(0);
  const pane = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const place = useMemo(() => new Place(), []);
  const [isWithin, setWithin] = useState(false);
  const paint = usePaint(files.length > 0);
  const { openEditor, deleteFile, problem } = useFileActs(attempt);
  const kept = useRef({
    rows: new Map<string, readonly Row[]>(),
    opened: new Map<string, ReadonlyMap<number, number>>(),
    forced: new Set<string>(),
    scroller: () => scroller.current,
  }).current;

  useEffect(() => {
    const element = pane.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const isSplit = diffView === "split" && width >= NARROW;
  const reader: Reader = {
    ...kept,
    attempt,
    store,
    isSplit,
    isSpaceIgnored,
    comments,
    paint,
    isViewed,
    isOpen: (file) => opened.get(file.path) ?? (!isViewed(file) && !foldedBecause(file)),
    setViewed(file, isViewed) {
      mark(file, isViewed);
      // It is open or folded as the mark says, also when that is gone.
      setOpened((now) => new Map([...now].filter(([path]) => path !== file.path)));
    },
    setOpen: (file, isOpen) => setOpened((now) => new Map(now).set(file.path, isOpen)),
    openEditor,
    deleteFile,
    isNow,
  };
  const walk = useWalk({ reader, files, place, list, scroller });
  const link = useFileLink(files, store.isKnown, walk.to);

  const look = () => {
    const handle = list.current;
    if (!handle) return;
    const [first, last] = [
      handle.findItemIndex(handle.scrollOffset),
      handle.findItemIndex(handle.scrollOffset + handle.viewportSize),
    ];
    place.go(files[first]?.path ?? null);
    // What changes while no agent is at work is the person's own doing, and is shown at once.
    const onScreen = isAtWork ? files.slice(first, last + 1).map((file) => file.path) : [];
    store.read(new Set(comments.writing ? [...onScreen, comments.writing.path] : onScreen));
  };
  useEffect(look);

  const edit = () => {
    const at = walk.at();
    if (at) openEditor(at.path, at.line);
  };
  const pending = comments.pending.length > 0;
  useActions(
    "changes",
    {
      nextFile: () => walk.file(1),
      previousFile: () => walk.file(-1),
      nextHunk: () => walk.change(1),
      previousHunk: () => walk.change(-1),
      comment: isWithin ? walk.comment : undefined,
      viewed: walk.viewed,
      openEditor: isNow ? edit : undefined,
      splitDiff: () => prefer({ diffView: preferences().diffView === "split" ? "unified" : "split" }),
      whitespace: () => setSpaceIgnored(!isSpaceIgnored),
      sendComments: pending ? () => document.getElementById(`send-${attempt}`)?.click() : undefined,
    },
    files.length > 0,
  );

  const viewed = files.filter(isViewed).length;
  const held = store.held.size;
  return (
    <ReaderContext value={reader}>
      <div
        ref={pane}
        className={styles.pane}
        onFocus={() => setWithin(true)}
        onBlur={(event) => setWithin(event.currentTarget.contains(event.relatedTarget))}
        onPointerDown={() => setWithin(true)}
      >
        <Toolbar
          {...{ scope, setScope, snapshots, since, files, isSplit, isSpaceIgnored, setSpaceIgnored }}
          target={target}
          behind={status?.commits_behind ?? 0}
          canSplit={width >= NARROW}
          areAllOpen={files.every(reader.isOpen)}
          setAllOpen={(isOpen) => setOpened(new Map(files.map((file) => [file.path, isOpen])))}
        />
        {problem && (
          <p role="alert" className={styles.problem}>
            {problem}
          </p>
        )}
        {comments.missing && <Failed isLine what="Comments are" {...comments.missing} />}
        {files.length > 0 && <FileTree files={files} place={place} onChoose={link.choose} />}
        {scope !== null && scope.from === since?.from && (
          <p className={styles.held} role="status">
            {scope.isRebased
              ? `Only what changed since you last looked. It was rebased meanwhile: in these files, what ${target} changed is shown too.`
              : "Only what changed since you last looked."}
            <Button size="small" onClick={() => setScope(null)}>
              Show all changes
            </Button>
          </p>
        )}
        {link.missing && (
          <p className={styles.held} role="status">
            {link.missing} is not among these changes.
          </p>
        )}
        {held > 0 && (
          <p className={styles.held} role="status">
            {counted(held, "file")} changed while you read.
            <Button size="small" onClick={() => store.update()}>
              Update
            </Button>
          </p>
        )}
        <div
          ref={scroller}
          className={styles.scroller}
          data-windowed
          tabIndex={files.length > 0 ? 0 : undefined}
          role="group"
          aria-label="Changes"
        >
          {files.length > 0 ? (
            <Virtualizer
              ref={list}
              scrollRef={scroller}
              bufferSize={600}
              itemSize={140}
              data={files}
              onScroll={look}
            >
              {(file) => <FileDiff key={file.path} file={file} />}
            </Virtualizer>
          ) : store.isKnown ? (
            <Empty>
              {scope
                ? isNow
                  ? "No file changed since you last looked."
                  : "This turn changed no file."
                : `No changes against ${target} yet.`}
            </Empty>
          ) : store.error ? (
            <Failed what="The changes are" error={store.error} again={() => store.start()} />
          ) : (
            <Loading what="the changes" />
          )}
        </div>
        <CommentBar id={`send-${attempt}`} comments={comments} viewed={viewed} total={files.length} />
      </div>
    </ReaderContext>
  );
}
