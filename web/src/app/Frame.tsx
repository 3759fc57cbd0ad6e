// What surrounds every page: the rail, the banner of an absent server, notices, and what opens over the page.

import { type ReactNode, Suspense, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { useWorld } from "../api/world";
import { inboxOf } from "../facts/inbox";
import { Boundary } from "../ui/Boundary";
import { wantToAnswer } from "../ui/Questions";
import { AwayBanner } from "./AwayBanner";
import styles from "./Frame.module.css";
import { useActions } from "./keys";
import { NewVersion } from "./NewVersion";
import { Notices } from "./notices";
import { Overlays, openOverlay } from "./overlays";
import { LoginPage } from "./parts";
import { prefer, preferences, usePreferences } from "./preferences";
import { Rail } from "./Rail";
import { Warnings } from "./Warnings";
import { useProjectHere } from "./where";

export function Frame({ children }: { children: ReactNode }) {
  const { railFolded } = usePreferences();
  const problem = useWorld((world) => world.problem);
  useFrameActions();
  useTitle();
  useReady();
  if (problem && "status" in problem && problem.status === 401)
    return (
      <Suspense>
        <LoginPage />
      </Suspense>
    );
  return (
    <div className={styles.frame} data-folded={railFolded || undefined}>
      <a className={styles.skip} href="#content">
        Skip to content
      </a>
      <Boundary what="The list of projects">
        <Rail />
      </Boundary>
      <div className={styles.page}>
        <AwayBanner />
        <NewVersion />
        <Warnings />
        <main id="content" className={styles.content} tabIndex={-1}>
          {children}
        </main>
      </div>
      <Boundary what="The notifications">
        <Notices />
      </Boundary>
      <Overlays />
      <output className="unseen" id="announcements" aria-live="polite" />
    </div>
  );
}

function useFrameActions() {
  const [, go] = useLocation();
  const project = useProjectHere();
  const next = useWorld((world) => inboxOf(world)[0]?.attempt.id);
  const ask = useWorld((world) => inboxOf(world)[0]?.ask?.approval_id);
  useActions("everywhere", {
    palette: () => openOverlay({ name: "palette" }),
    help: () => openOverlay({ name: "keys" }),
    newTask: () => openOverlay({ name: "new task", project }),
    addProject: () => openOverlay({ name: "add project" }),
    goInbox: () => go("/inbox"),
    goAll: () => go("/"),
    goBoard: project ? () => go(`/p/${project}`) : undefined,
    goSettings: () => go("/settings/general"),
    goNext: next
      ? () => {
          if (ask) wantToAnswer(ask);
          go(`/a/${next}`);
        }
      : undefined,
    toggleRail: () => prefer({ railFolded: !preferences().railFolded }),
    toggleTheme: () =>
      prefer({ theme: document.documentElement.dataset.theme === "dark" ? "light" : "dark" }),
  });
}

/** Tells whoever drives the page that what it shows first is known and drawn, and that it hears keys. */
function useReady() {
  const isKnown = useWorld((world) => world.isKnown);
  useEffect(() => {
    if (isKnown) document.documentElement.dataset.ready = "true";
  }, [isKnown]);
}

function useTitle() {
  const waiting = useWorld((world) => inboxOf(world).length);
  const [heading, setHeading] = useState("");
  // The page's own heading is its title, whichever page it is.
  useEffect(() => {
    const read = () => setHeading(document.querySelector("main h1")?.textContent ?? "");
    const observer = new MutationObserver(read);
    const main = document.getElementById("content");
    if (main) observer.observe(main, { childList: true, subtree: true });
    read();
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${heading ? `${heading} · ` : ""}Forge`;
    void navigator.setAppBadge?.(waiting).catch(() => {});
  }, [waiting, heading]);
}
