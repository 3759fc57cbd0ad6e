// What can be done with a changed file: open it in an editor, delete it, and bring it back.

import { useState } from "react";
import { get, post, sentenceOf } from "../api/client";
import type { AttemptSnapshot, FilesRestored, OpenEditorResponse } from "../api/types";
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
      const snapshots = await get<AttemptSnapshot[]>(`${base}/snapshots`);
      const before = snapshots.find(({ why }) => why === "before a file was deleted");
      if (!before) throw new Error(`${path} was not brought back: there is no snapshot of it.`);
      await post<FilesRestored>(`${base}/restore`, { snapshot_id: before.id, paths: [path] });
      say(`${path} is back.`);
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
