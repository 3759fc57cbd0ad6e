// The comment that is being written: what stands in its box, and how that comes to the server. The server is asked for one
// thing at a time, so that no comment is made twice, and what was written on meanwhile is found by every answer.

import { post, postOnce, put, remove, sentenceOf } from "../api/client";
import type { FollowUpProcess, ReviewComment } from "../api/types";

export type Comment = ReviewComment;

/** A comment that is being written: a new one, or one that is changed. */
export type Writing = Pick<Comment, "path" | "side" | "line" | "end_line" | "quote" | "text"> & {
  id: string | null;
};

/** What the server keeps of it. */
export const said = ({ path, side, line, end_line, quote, text }: Omit<Writing, "id">) => ({
  path,
  side,
  line,
  end_line,
  quote,
  text,
});

/** One opening of the box. However often it is saved, it is one comment. */
type Box = {
  id: string | null;
  /** Its words as they were last saved. */
  kept: string | null;
  isDropped: boolean;
  /** How often it could not be saved. */
  failed: number;
};

export class Pen {
  /** What stands in the box. */
  writing: Writing | null = null;
  problem: string | null = null;

  private box: Box | null = null;
  private turn: Promise<unknown> = Promise.resolve();
  private shown: Promise<unknown> = Promise.resolve();
  private watchers = new Set<() => void>();

  constructor(
    readonly attempt: string,
    /** Hears of each comment that was saved, and is done when the page shows it. */
    private readonly onSaved: (comment: Comment) => Promise<unknown>,
  ) {}

  subscribe = (watcher: () => void) => {
    this.watchers.add(watcher);
    return () => void this.watchers.delete(watcher);
  };

  write(text: string) {
    if (this.writing) this.show({ ...this.writing, text });
  }

  /** Opens the box at a place; what was begun elsewhere is saved first, to its last word. */
  async begin(at: Writing) {
    while (this.writing) if (!(await this.keep())) return;
    this.box = { id: at.id, kept: at.id === null ? null : at.text, isDropped: false, failed: 0 };
    this.show(at, null);
  }

  cancel() {
    this.show(null, null);
  }

  /** Saves what stands in the box now; false when that did not work, and then it stays. */
  async save(): Promise<boolean> {
    const isSaved = await this.keep();
    await this.shown;
    return isSaved;
  }

  /** Drops comments, saved or not; false when that did not work. */
  discard(list: ReadonlyArray<Comment | Writing>): Promise<boolean> {
    const { box, writing } = this;
    const isInBox = list.some(({ id }) => id === null || id === writing?.id);
    return this.inTurn(async () => {
      try {
        // What was being saved when it was dropped has an id by now.
        const ids = list.map(({ id }) => id ?? box?.id);
        await Promise.all(ids.map((id) => id && remove(`${this.path}/${id}`)));
      } catch (error) {
        this.show(this.writing, `The comment is still there: ${sentenceOf(error)}`);
        return false;
      }
      if (box && isInBox) box.isDropped = true;
      this.show(this.box?.isDropped ? null : this.writing, null);
      return true;
    });
  }

  /**
   * Sends a message and the comments that it is made of, one of which may stand in the box: both, or neither. Null when
   * the box could not be saved. What is saved meanwhile waits.
   */
  send(prompt: string, list: ReadonlyArray<Comment | Writing>): Promise<FollowUpProcess["delivered"] | null> {
    const { box } = this;
    const keep = this.keeping();
    return this.inTurn(async () => {
      if (!(await keep())) return null;
      const ids = list.flatMap(({ id }) => id ?? box?.id ?? []);
      const body = { prompt, comment_ids: ids };
      const { delivered } = await postOnce<FollowUpProcess>(`/task-attempts/${this.attempt}/follow-up`, body);
      this.sent(ids, box);
      this.show(this.writing, null);
      return delivered;
    });
  }

  /** What was sent stays as the agent heard it: who writes on in its box writes another comment. */
  sent(ids: readonly string[], box = this.box) {
    for (const it of [box, this.box]) if (it?.id && ids.includes(it.id)) it.id = null;
    if (this.writing?.id && ids.includes(this.writing.id)) this.show({ ...this.writing, id: null });
  }

  private get path() {
    return `/task-attempts/${this.attempt}/comments`;
  }

  private inTurn<T>(act: () => Promise<T>): Promise<T> {
    const done = this.turn.then(act, act);
    this.turn = done;
    return done;
  }

  private keep(): Promise<boolean> {
    return this.inTurn(this.keeping());
  }

  /** Saves, when its turn comes, what stands in the box now. */
  private keeping(): () => Promise<boolean> {
    const { box, writing } = this;
    if (!box || !writing) return async () => true;
    const { failed } = box;
    // If it could not be saved just before, nobody knows whether the server has it: the person tries again, or does not.
    return async () => failed === box.failed && this.keepNow(box, writing);
  }

  private async keepNow(box: Box, { text, ...place }: Writing): Promise<boolean> {
    try {
      if (text.trim() !== "" && text !== box.kept && !box.isDropped) {
        let comment = box.id ? await put<Comment>(`${this.path}/${box.id}`, { text }) : null;
        // One that another tab has sent went without these words.
        if (!comment || comment.sent_at !== null)
          comment = await post<Comment>(this.path, said({ ...place, text }));
        box.id = comment.id;
        box.kept = text;
        this.shown = this.onSaved(comment);
      }
    } catch (error) {
      box.failed += 1;
      this.show(this.writing, `The comment was not saved: ${sentenceOf(error)}`);
      return false;
    }
    const now = this.writing;
    // Who wrote on meanwhile goes on with the same comment, and the box stays. What was begun since is another one.
    if (now && box === this.box) this.show(now.text === text ? null : { ...now, id: box.id }, null);
    return true;
  }

  private show(writing: Writing | null, problem = this.problem) {
    if (!writing) this.box = null;
    this.writing = writing;
    this.problem = problem;
    for (const watcher of this.watchers) watcher();
  }
}
