// What can be done with a changed file: open it in an editor, delete it, and bring it back.

import { useState } from "react";
import { get, post, sentenceOf } from "../api/client";
import type { AttemptSnapshot, FilesRestored, OpenEditorResponse, TaskAttemptDiff } from "../api/types";
import { say, sayError } from "../app/notices";

export function useFileActs(attempt: string) {
  const [problem, setProblem] = useState<string | null>(null);
  const base = `/task-attempts/${attempt}`;

  const openEditor = async (path: string, line?: number) => {
    setProblem(null);
    try {
      const { url } = await post<OpenEditorResponse>(`${base}/open-editor`, { file_path: path, line });
      if (url) location.assign(url);
    } catch (error) {
      setProblem(`${path} was not opened: ${sentenceOf(error)}`);
    }
  };

  const bringBack = async (path: string) => {
    try {
      const before = await lastWith(base, path);
      if (!before) throw new Error(`${path} was not brought back: no snapshot has it.`);
      const done = await post<FilesRestored>(`${base}/restore`, { snapshot_id: before, paths: [path] });
      if (done.written.includes(path)) return say(`${path} is back.`);
      const why = done.left_alone.find((file) => file.path === path)?.why;
      throw new Error(`${path} was not brought back: ${why ?? "it was there already."}`);
    } catch (error) {
      sayError(error);
    }
  };

  const deleteFile = async (path: string) => {
    setProblem(null);
    try {
      await post(`${base}/delete-file?${new URLSearchParams({ file_path: path })}`);
      say(`${path} is deleted. A snapshot keeps it.`, { undo: () => void bringBack(path) });
    } catch (error) {
      setProblem(`${path} was not deleted: ${sentenceOf(error)}`);
    }
  };

  return {
    problem,
    openEditor: (path: string, line?: number) => void openEditor(path, line),
    deleteFile: (path: string) => void deleteFile(path),
  };
}

/** The newest of the snapshots before a deletion that has a file which is not there now. */
async function lastWith(base: string, path: string): Promise<string | null> {
  const snapshots = await get<AttemptSnapshot[]>(`${base}/snapshots`);
  for (const { id, why } of snapshots) {
    if (why !== "before a file was deleted") continue;
    const { diffs } = await get<TaskAttemptDiff>(`${base}/diff?stats_only=true&from=${id}&to=now`);
    if (diffs.some(({ oldPath }) => oldPath === path)) return id;
  }
  return null;
}
