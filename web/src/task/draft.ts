// What was typed into the task dialog and not sent yet: kept by the browser, so that closing it never loses text.

export type TaskDraft = {
  title: string;
  prompt: string;
  images: ReadonlyArray<{ id: string; name: string }>;
};

export const NO_DRAFT: TaskDraft = { title: "", prompt: "", images: [] };

const KEY = "forge.draft.";

export function readDraft(of: string): TaskDraft | null {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY + of) ?? "null") as Partial<TaskDraft> | null;
    return kept && { ...NO_DRAFT, ...kept };
  } catch {
    return null;
  }
}

export function keepDraft(of: string, draft: TaskDraft | null) {
  try {
    const isEmpty = !draft || (!draft.title && !draft.prompt && draft.images.length === 0);
    if (isEmpty) localStorage.removeItem(KEY + of);
    else localStorage.setItem(KEY + of, JSON.stringify(draft));
  } catch {
    // A browser that keeps nothing still works.
  }
}

const LONGEST_TITLE = 80;

/** A whole prompt that was pasted as a title: its first words become the title, all of it the prompt. */
export function fromPasted(text: string): { title: string; prompt: string } | null {
  const whole = text.trim();
  const [first = ""] = whole.split("\n", 1);
  if (whole.length <= LONGEST_TITLE && first === whole) return null;
  if (first.length <= LONGEST_TITLE) return { title: first.trim(), prompt: whole };
  const cut = first.slice(0, LONGEST_TITLE);
  const atWord = cut.lastIndexOf(" ") > LONGEST_TITLE / 2 ? cut.slice(0, cut.lastIndexOf(" ")) : cut;
  return { title: `${atWord.trimEnd()}…`, prompt: whole };
}
