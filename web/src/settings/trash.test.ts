import { expect, test } from "vitest";
import type { RemovedEntry } from "../api/types";
import { trashOf } from "./trash";

const entry = (kind: string, id: string, more: Partial<RemovedEntry> = {}): RemovedEntry => ({
  kind,
  id,
  name: id,
  project_id: "shop",
  task_id: null,
  files: null,
  removed_at: "2026-01-01T00:00:00Z",
  ...more,
});
const attempt = (id: string, task: string) => entry("attempt", id, { task_id: task, files: "trash" });

const shown = (removed: RemovedEntry[]) => trashOf(removed).map(({ entry }) => entry.id);

test("what went with something else is not offered by itself", () => {
  const gone = [attempt("one", "wish"), entry("task", "wish"), attempt("two", "of a task that is there")];
  expect(shown(gone)).toEqual(["wish", "two"]);
  expect(shown([...gone, entry("project", "shop")])).toEqual(["shop"]);
});

test("files that git ignores stay for a week, everything else for good", () => {
  const [wish, empty] = trashOf([attempt("one", "wish"), entry("task", "wish"), entry("task", "empty")]);
  expect(wish?.ignoredUntil).toEqual(new Date("2026-01-08T00:00:00Z"));
  expect(empty?.ignoredUntil).toBeNull();
});
