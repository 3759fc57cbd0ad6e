// The verbs of landing. Each says what goes on while it goes on, and ends in a change that is seen or in a sentence
// that stays, with the remedy beside it.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post, postOnce, put } from "../api/client";
import type { AttachPrResponse, FollowUpProcess, OpenEditorResponse } from "../api/types";
import { world } from "../api/world";
import { say, sayError } from "../app/notices";
import { keyOf } from "../app/queries";
import { resolvePrompt } from "./next-step";
import { codeOf, type Problem, problemOf } from "./problem";

export function useLanding(attempt: string) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const base = `/task-attempts/${attempt}`;

  /** Does something under its word; true when it was done. `not` begins the sentence of a refusal. */
  const doing = async (
    word: string,
    not: string,
    act: () => Promise<unknown>,
    isOfConflict = false,
  ): Promise<boolean> => {
    if (busy) return false;
    setBusy(word);
    setProblem(null);
    try {
      await act();
      return true;
    } catch (error) {
      // New conflicts are told by the branch's own standing, which is asked for again below. Those that are left stand
      // there as before, so they are told here.
      if (isOfConflict || codeOf(error) !== "merge_conflicts")
        setProblem(problemOf(not, error, isOfConflict));
      return false;
    } finally {
      await queries.invalidateQueries({ queryKey: keyOf.attempt(attempt) });
      setBusy(null);
    }
  };

  const target = () => world().attempts.get(attempt)?.target_branch ?? "its target";
  const merged = () => {
    const task = world().attempts.get(attempt)?.task_id;
    const archive = () => void put(`/tasks/${task}`, { status: "archived" }).catch(sayError);
    const action = task ? { words: "Archive", run: archive } : undefined;
    say(`Merged into ${target()}.`, { action, undo: () => void undo().catch(sayError) });
  };
  const undo = async () => {
    await post(`${base}/merge/undo`);
    await queries.invalidateQueries({ queryKey: keyOf.attempt(attempt) });
    say(`${target()} is as it was before the merge.`);
  };

  return {
    busy,
    problem,
    forget: () => setProblem(null),
    merge: async (skip_hooks = false) => {
      const isDone = await doing("Merging", "Not merged", () => post(`${base}/merge`, { skip_hooks }));
      if (isDone) merged();
      return isDone;
    },
    undoMerge: () => doing("Undoing", "The merge stays", undo),
    /** Done also when it stopped at a conflict: it waits then, as the branch's standing tells. */
    rebase: (new_base_branch?: string) =>
      doing("Rebasing", "Not rebased", () =>
        post(`${base}/rebase`, { new_base_branch }).catch((error) => {
          if (codeOf(error) !== "merge_conflicts") throw error;
        }),
      ),
    rebaseThenMerge: async () => {
      const isDone = await doing("Rebasing", "Not merged", async () => {
        await post(`${base}/rebase`, {});
        setBusy("Merging");
        await post(`${base}/merge`, {});
      });
      if (isDone) merged();
      return isDone;
    },
    push: async () => {
      const isDone = await doing("Pushing", "Not pushed", () => post(`${base}/push`));
      if (isDone) say("Pushed.");
      return isDone;
    },
    createPullRequest: (asked: { title: string; body: string; target_branch: string }) =>
      doing("Creating", "Pull request not created", async () => {
        const url = await post<string>(`${base}/pr`, asked);
        say("The pull request is open.", { action: { words: "Open", run: () => visit(url) } });
      }),
    attach: (pr_number: number | null) =>
      doing("Looking", "No pull request attached", async () => {
        const found = await post<AttachPrResponse>(`${base}/pr/attach`, { pr_number });
        if (!found.pr_attached) throw new Error("there is none for this branch.");
        say(`#${found.pr_number} is attached.`);
      }),
    changeTarget: (new_target_branch: string) =>
      doing("Changing", "The target is not changed", () =>
        post(`${base}/change-target-branch`, { new_target_branch }),
      ),
    resolve: (files: readonly string[]) =>
      doing("Sending", "Not sent", async () => {
        const prompt = resolvePrompt(target(), files);
        const { delivered } = await postOnce<FollowUpProcess>(`${base}/follow-up`, { prompt });
        say(delivered === "queued" ? "The agent resolves it after this turn." : "The agent resolves it.");
      }),
    openEditor: (file?: string) =>
      doing("Opening", "Not opened", async () => {
        const { url } = await post<OpenEditorResponse>(`${base}/open-editor`, { file_path: file ?? null });
        if (url) location.assign(url);
      }),
    /** Goes on when somebody has resolved the conflicts in the files. */
    goOn: () => doing("Going on", "Not finished", () => post(`${base}/conflicts/continue`), true),
    abort: () => doing("Aborting", "Not aborted", () => post(`${base}/conflicts/abort`), true),
    stop: () => doing("Stopping", "Not stopped", () => post(`${base}/stop`)),
  };
}

export type Landing = ReturnType<typeof useLanding>;

export const visit = (url: string) => void open(url, "_blank", "noopener,noreferrer");
