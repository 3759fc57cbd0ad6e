// The board of a project, or of all of them.

import { Suspense, useCallback, useDeferredValue, useMemo, useRef, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { begin, sameList, useWorld, type World, world } from "../api/world";
import { useAway } from "../app/away";
import { openOverlay } from "../app/overlays";
import { Peek, Welcome } from "../app/parts";
import { prefer, usePreferences } from "../app/preferences";
import { placeTask } from "../app/task-acts";
import { COLUMNS, type ColumnId } from "../facts/state";
import { Button } from "../ui/Button";
import { Menu, type Place } from "../ui/Menu";
import { NotHere } from "../ui/NotHere";
import { Empty, Failed, Loading } from "../ui/Nothing";
import { counted } from "../ui/numbers";
import { active } from "./active";
import styles from "./Board.module.css";
import { type BoardActs, BoardContext } from "./BoardContext";
import { BoardHead } from "./BoardHead";
import { BoardKeys } from "./BoardKeys";
import { Columns } from "./Columns";
import { ownDoing, useCalm } from "./calm";
import { type Arrangement, arrange, cardOf } from "./cards";
import { isEmptyFilter, readFilter } from "./filter";
import { ListView } from "./ListView";
import { MoveQuestion, type Question } from "./MoveQuestion";
import { menuOf, moveItems, takeCard } from "./menu";
import { meaningOf } from "./moves";
import { Toolbar, takeAll } from "./Toolbar";

export function BoardPage({ project }: { project: string | null }) {
  const isKnown = useWorld((world) => world.isKnown);
  const problem = useWorld((world) => world.problem);
  const name = useWorld((world) => (project ? world.projects.get(project)?.name : "All projects"));
  const isFirstRun = useWorld((world) => world.isKnown && world.projects.size === 0);
  if (isFirstRun && !project)
    return (
      <Suspense fallback={<Loading what="the page" />}>
        <Welcome />
      </Suspense>
    );
  if (!isKnown && problem) return <Failed what="Tasks are" error={problem} again={() => void begin()} />;
  if (!isKnown) return <Loading what="tasks" />;
  if (name === undefined) return <NotHere />;
  return <Board project={project} name={name} />;
}

type Opened = { kind: "menu" | "move"; task: string; at: Place };

function Board({ project, name }: { project: string | null; name: string }) {
  const [, go] = useLocation();
  const [params, setParams] = useSearchParams();
  const { view: usualView, columnSort, cancelledShown, archivedShown } = usePreferences();
  const away = useAway();
  const typed = params.get("q") ?? "";
  const view = params.get("view") === "list" ? "list" : params.get("view") === "board" ? "board" : usualView;
  const filter = useDeferredValue(useMemo(() => readFilter(typed), [typed]));
  const isFiltered = !isEmptyFilter(filter);
  const [isPointed, setPointed] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  const [isPeeking, setPeeking] = useState(false);
  const filterBox = useRef<HTMLInputElement>(null);

  const newest = useWorld(
    useCallback(
      (world: World) => arrange(world, { project, filter, sorts: columnSort }),
      [project, filter, columnSort],
    ),
    sameArrangement,
  );
  const shown = useCalm(newest, isPointed || isFocused);
  const columnIds = COLUMNS.map(({ id }) => id).filter(
    (id) => (id !== "cancelled" || cancelledShown) && (id !== "archived" || archivedShown || view === "list"),
  );
  const order = columnIds.map((id) => shown.columns[id]);
  const listed = useMemo(
    () => LIST_ORDER.filter((id) => id !== "cancelled" || cancelledShown).flatMap((id) => shown.columns[id]),
    [shown, cancelledShown],
  );

  const acts = useMemo<BoardActs>(
    () => ({
      menu: (task, at) => setOpened({ kind: "menu", task, at }),
      moveMenu: (task, at) => setOpened({ kind: "move", task, at }),
      take: (task, to, before) => takeTo(task, to, before, setQuestion),
      isOfAllProjects: project === null,
    }),
    [project],
  );
  const change = (key: string, value: string | null) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        if (value) after.set(key, value);
        else after.delete(key);
        return after;
      },
      { replace: true },
    );
  const setView = (to: "board" | "list") => {
    prefer({ view: to });
    change("view", to === "list" ? "list" : null);
  };
  const card = opened && cardOf(world(), opened.task);
  const close = useCallback(() => setOpened(null), []);
  const endPeek = useCallback(() => setPeeking(false), []);
  return (
    <BoardContext value={acts}>
      <BoardHead
        project={project}
        name={name}
        sums={newest}
        filterBox={filterBox}
        typed={typed}
        onType={(value) => change("q", value)}
        view={view}
        onView={setView}
      />
      <section
        className={styles.board}
        aria-label={`Board of ${project ? name : "all projects"}`}
        onPointerEnter={() => setPointed(true)}
        onPointerLeave={() => setPointed(false)}
        onFocus={({ target }) => setFocused(isOnCard(target))}
        onBlur={({ relatedTarget }) => setFocused(isOnCard(relatedTarget))}
      >
        {newest.all === 0 ? (
          <Empty
            action={
              <Button kind="primary" onClick={() => openOverlay({ name: "new task", project })}>
                New task
              </Button>
            }
          >
            No tasks yet. Write down the first wish.
          </Empty>
        ) : isFiltered && newest.hidden === newest.all ? (
          <Empty action={<Button onClick={() => change("q", null)}>Clear filter</Button>}>
            No task matches. {counted(newest.hidden, "is", "are")} hidden by the filter.
          </Empty>
        ) : view === "list" ? (
          <ListView ids={listed} />
        ) : (
          <Columns
            ids={columnIds}
            shown={shown}
            counts={newest.counts}
            project={project}
            isFiltered={isFiltered}
          />
        )}
        <Toolbar />
      </section>
      <BoardKeys
        columns={view === "list" ? [listed] : order}
        project={project}
        toggleView={() => setView(view === "list" ? "board" : "list")}
        filter={() => filterBox.current?.focus()}
        peek={() => setPeeking(!isPeeking)}
      />
      {isPeeking && (
        <Suspense>
          <Peek onClose={endPeek} />
        </Suspense>
      )}
      {opened && card && (
        <Menu
          key={opened.kind}
          label={opened.kind === "menu" ? `Actions for ${card.task.title}` : `Move ${card.task.title} to`}
          at={opened.at}
          items={
            opened.kind === "menu"
              ? menuOf(card, away, go, () => setOpened({ ...opened, kind: "move" }))
              : moveItems(card, acts.take)
          }
          onClose={close}
        />
      )}
      {question && <MoveQuestion question={question} onClose={() => setQuestion(null)} />}
    </BoardContext>
  );
}

const isOnCard = (target: EventTarget | null) =>
  target instanceof Element && target.closest("[data-task]") !== null;

/** In the list what is worked on comes first, and what is put away last. */
const LIST_ORDER: readonly ColumnId[] = ["inprogress", "inreview", "todo", "done", "archived", "cancelled"];

/** Does what it means to take a card to a column, or asks first. */
function takeTo(
  task: string,
  to: ColumnId,
  before: string | null | undefined,
  ask: (question: Question) => void,
) {
  const card = cardOf(world(), task);
  if (!card) return;
  const { selected } = active();
  if (selected.size > 1 && selected.has(task)) return takeAll([...selected], to);
  ownDoing();
  const { kind } = meaningOf(card, to);
  if (kind === "nothing") {
    if (to === "todo" && before !== undefined && before !== task) placeTask(task, before);
    return;
  }
  takeCard(card, to, ask);
  if (kind === "move" && to === "todo" && before) placeTask(task, before);
}

function sameArrangement(a: Arrangement, b: Arrangement) {
  return (
    a.running === b.running &&
    a.asks === b.asks &&
    a.toReview === b.toReview &&
    a.hidden === b.hidden &&
    a.all === b.all &&
    COLUMNS.every(({ id }) => a.counts[id] === b.counts[id] && sameList(a.columns[id], b.columns[id]))
  );
}
