// The head of a board: where it is, how much goes on, the filter, and the one thing to do: a new task.

import { useQuery } from "@tanstack/react-query";
import type { RefObject } from "react";
import { useLocation } from "wouter";
import { get } from "../api/client";
import type { Usage } from "../api/types";
import { actionOf } from "../app/actions";
import { openOverlay } from "../app/overlays";
import { prefer, usePreferences } from "../app/preferences";
import { keyOf } from "../app/queries";
import { Button } from "../ui/Button";
import { Head } from "../ui/Head";
import { MenuButton } from "../ui/Menu";
import { money } from "../ui/numbers";
import styles from "./Board.module.css";
import type { Arrangement } from "./cards";
import { FilterBox } from "./FilterBox";

type Props = {
  project: string | null;
  name: string;
  sums: Pick<Arrangement, "running" | "asks" | "toReview">;
  filterBox: RefObject<HTMLInputElement | null>;
  typed: string;
  onType: (value: string) => void;
  view: "board" | "list";
  onView: (view: "board" | "list") => void;
};

export function BoardHead({ project, name, sums, filterBox, typed, onType, view, onView }: Props) {
  const [, go] = useLocation();
  const { archivedShown, cancelledShown } = usePreferences();
  return (
    <Head title={name}>
      <Sums project={project} sums={sums} />
      <span className={styles.space} />
      <FilterBox box={filterBox} value={typed} onChange={onType} />
      <div className={styles.views} role="radiogroup" aria-label="View">
        {(["board", "list"] as const).map((it) => (
          <label key={it} data-chosen={view === it || undefined}>
            <input
              type="radio"
              name="view"
              className="unseen"
              checked={view === it}
              onChange={() => onView(it)}
            />
            {it === "board" ? "Board" : "List"}
          </label>
        ))}
      </div>
      <MenuButton
        kind="quiet"
        icon="more"
        label="More of the board"
        items={() => [
          {
            words: archivedShown ? "Fold archived" : "Show archived",
            run: () => prefer({ archivedShown: !archivedShown }),
          },
          {
            words: cancelledShown ? "Hide cancelled" : "Show cancelled",
            run: () => prefer({ cancelledShown: !cancelledShown }),
          },
          ...(project
            ? [{ words: "Settings of the project", run: () => go(`/settings/project/${project}`) }]
            : []),
        ]}
      />
      <Button
        kind="primary"
        hint={actionOf("newTask").keys[0]}
        onClick={() => openOverlay({ name: "new task", project })}
      >
        <span className={styles.newWords}>New task</span>
        <span className={styles.newSign} aria-hidden="true">
          +
        </span>
      </Button>
    </Head>
  );
}

function Sums({ project, sums }: Pick<Props, "project" | "sums">) {
  const today = new Date().toISOString().slice(0, 10);
  const { data: cost } = useQuery({
    queryKey: keyOf.project(project ?? "all", "usage", today),
    queryFn: ({ signal }) => get<Usage[]>(`/usage?by=day${project ? `&project_id=${project}` : ""}`, signal),
    select: (days) => days.find(({ key }) => key === today)?.cost_micros ?? null,
    refetchInterval: 60_000,
  });
  const { running, asks, toReview } = sums;
  return (
    <p className={styles.sums}>
      <span data-tone={running > 0 ? "running" : undefined}>{running} running</span>{" "}
      {asks > 0 && <span data-tone="ask">{asks === 1 ? "1 needs you" : `${asks} need you`} </span>}
      {toReview > 0 && <span>{toReview} to review </span>}
      {cost ? <span>{money(cost)} today</span> : null}
    </p>
  );
}
