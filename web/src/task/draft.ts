// What was typed into the task dialog and not sent yet: kept by the browser, so that closing it never loses text.

export type Words = { title: string; prompt: string };

export type TaskDraft = Words & {
  images: ReadonlyArray<{ id: string; name: string; path: string }>;
  /** The words of the task when its change was begun. */
  basis?: Words;
};

/** Tells whether a task has got other words since its change was begun, which saving would write over. */
export const isOvertaken = (draft: TaskDraft, now: Words) =>
  !(draft.basis && isSame(draft.basis, now)) && !isSame(draft, now);

const isSame = (one: Words, other: Words) => one.title === other.title && one.prompt === other.prompt;

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
    const isUnchanged = draft?.basis && isSame(draft, draft.basis);
    if (isEmpty || isUnchanged) localStorage.removeItem(KEY + of);
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

/** A prompt without what refers to a picture; a line that is nothing else goes, too. */
export function withoutPicture(prompt: string, path: string): string {
  const reference = new RegExp(`!\\[[^\\]\\n]*\\]\\(${path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\)`, "g");
  const lines = prompt.split("\n").flatMap((line) => {
    const rest = line.replace(reference, "");
    return rest !== line && rest.trim() === "" ? [] : [rest];
  });
  return lines.join("\n");
}
