import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Comment, Pen, type Writing } from "./pen";

/** The comments of one attempt as the server keeps them, and what the agent was told. */
let comments: Map<string, { text: string; line: number; sent_at: string | null }>;
let told: string[];
/** The methods that were called, in their order. */
let calls: string[];
/** A call that begins like this, as "POST comments", is refused. */
let refused: string | null;
/** Calls wait for it on their way. */
let road: Promise<void>;
let clear: () => void;
/** Comments as the page has heard of them. */
let heard: Comment[];
let pen: Pen;

const hold = () => {
  road = new Promise((done) => {
    clear = done;
  });
};

function answer(method: string, path: string, body: Record<string, unknown>) {
  const [, id = ""] = /comments\/(.+)$/.exec(path) ?? [];
  const now = comments.get(id);
  if (path === "follow-up") {
    for (const it of body.comment_ids as string[]) {
      const comment = comments.get(it);
      if (!comment || comment.sent_at) throw new Error(`comment ${it} was sent already`);
      comment.sent_at = "now";
    }
    told.push(String(body.prompt));
    return { delivered: "started" };
  }
  if (method === "DELETE") return comments.delete(id) ? null : fail(`no comment ${id}`);
  if (method === "PUT" && !now) return fail(`no comment ${id}`);
  const made = method === "POST" ? `c${comments.size + 1}` : id;
  comments.set(made, { line: 1, sent_at: null, ...now, ...body } as never);
  return { id: made, ...comments.get(made) };
}
const fail = (words: string): never => {
  throw new Error(words);
};

beforeEach(() => {
  comments = new Map();
  [told, calls, heard] = [[], [], []];
  refused = null;
  road = Promise.resolve();
  vi.stubGlobal("fetch", async (url: string, { method = "GET", body }: RequestInit) => {
    const path = url.replace("/api/task-attempts/a/", "");
    calls.push(`${method} ${path}`);
    await road;
    try {
      if (refused && `${method} ${path}`.startsWith(refused)) throw new Error("The disk is full.");
      return Response.json({ success: true, data: answer(method, path, JSON.parse(String(body ?? "{}"))) });
    } catch (error) {
      return Response.json({ success: false, message: (error as Error).message }, { status: 409 });
    }
  });
  // The page is slow to show what was saved.
  pen = new Pen("a", (comment) => {
    heard.push(comment);
    return new Promise(() => {});
  });
});
afterEach(() => vi.unstubAllGlobals());

const at = (line: number): Writing => ({
  id: null,
  path: "a.js",
  side: "new",
  line,
  end_line: line,
  quote: `line ${line}`,
  text: "",
});
const begun = async (line: number, text: string) => {
  await pen.begin(at(line));
  pen.write(text);
};
const texts = () => [...comments.values()].map(({ text }) => text);
const arrived = (call: string) => vi.waitFor(() => expect(calls).toContain(call));
const settled = () => vi.waitFor(() => expect(pen.writing).toBeNull());

test("a comment is made once, however often it is saved, and has the words that stood there at the last time", async () => {
  await begun(1, "And");
  hold();
  void pen.save();
  void pen.save();
  pen.write("And here");
  void pen.save();
  clear();
  await settled();
  expect(calls).toEqual(["POST comments", "PUT comments/c1"]);
  expect(texts()).toEqual(["And here"]);
});

test("who writes on while it is saved stays in the box, and goes on with the same comment", async () => {
  await begun(1, "And");
  hold();
  void pen.save();
  pen.write("And here");
  clear();
  await vi.waitFor(() => expect(pen.writing).toMatchObject({ id: "c1", text: "And here" }));
  expect(texts()).toEqual(["And"]);
  void pen.save();
  await settled();
  expect(texts()).toEqual(["And here"]);
});

test("what is begun before the page shows the comment before it is saved and sent with its message", async () => {
  await begun(1, "First");
  void pen.save();
  await settled();
  await begun(2, "Second");
  await pen.send("both", [heard[0] as Comment, pen.writing as Writing]);
  expect(told).toEqual(["both"]);
  expect([...comments.values()].map(({ text, sent_at }) => [text, sent_at])).toEqual([
    ["First", "now"],
    ["Second", "now"],
  ]);
  expect(pen.writing).toBeNull();
});

test("a comment that is sent while it is being saved is sent, and once", async () => {
  await begun(1, "First");
  hold();
  void pen.save();
  const sent = pen.send("it", [pen.writing as Writing]);
  clear();
  expect(await sent).toBe("started");
  expect(calls).toEqual(["POST comments", "POST follow-up"]);
  expect(comments.get("c1")?.sent_at).toBe("now");
});

test("what is begun while another comment is saved is one of its own, also at the same place", async () => {
  for (const line of [31, 1]) {
    comments.clear();
    calls = [];
    await begun(1, "Slow");
    hold();
    const saved = arrived("POST comments");
    void pen.save();
    await saved;
    pen.cancel();
    await begun(line, "Other");
    clear();
    await vi.waitFor(() => expect(texts()).toEqual(["Slow"]));
    await vi.waitFor(() => expect(heard.at(-1)?.text).toBe("Slow"));
    expect(pen.writing).toMatchObject({ id: null, line, text: "Other" });
    void pen.save();
    await settled();
    expect([...comments.values()].map(({ line, text }) => [line, text])).toEqual([
      [1, "Slow"],
      [line, "Other"],
    ]);
  }
});

test("a comment that is dropped while it is being saved is gone", async () => {
  await begun(1, "Slow");
  hold();
  void pen.save();
  const dropped = pen.discard([pen.writing as Writing]);
  pen.write("Slow, and more");
  const next = begun(31, "Other");
  clear();
  expect(await dropped).toBe(true);
  await next;
  expect(texts()).toEqual([]);
  expect(pen.writing).toMatchObject({ id: null, line: 31, text: "Other" });
});

test("words that are written after sending are another comment, and the sent one stays as the agent heard it", async () => {
  await begun(1, "Why?");
  hold();
  const sent = pen.send("Why?", [pen.writing as Writing]);
  await arrived("POST comments");
  // The first of these says nothing new, the second does.
  void pen.save();
  pen.write("Why? And how?");
  void pen.save();
  clear();
  await sent;
  await settled();
  expect([...comments.values()].map(({ text, sent_at }) => [text, sent_at])).toEqual([
    ["Why?", "now"],
    ["Why? And how?", null],
  ]);
});

test("a box whose comment another tab has sent becomes another comment", async () => {
  for (const hears of [true, false]) {
    comments.clear();
    comments.set("c1", { text: "Why?", line: 1, sent_at: null });
    await pen.begin({ ...at(1), id: "c1", text: "Why?" });
    pen.write("Why not?");
    comments.set("c1", { text: "Why?", line: 1, sent_at: "now" });
    if (hears) {
      pen.sent(["c1"]);
      expect(pen.writing?.id).toBeNull();
    }
    void pen.save();
    await settled();
    expect(comments.get("c2")).toMatchObject({ text: "Why not?", sent_at: null });
  }
});

test("a save that waited for one that failed has failed with it, and the next one is tried", async () => {
  await begun(1, "And");
  refused = "POST comments";
  hold();
  const saves = [pen.save(), pen.save()];
  pen.write("And here");
  saves.push(pen.save());
  clear();
  expect(await Promise.all(saves)).toEqual([false, false, false]);
  expect(calls).toEqual(["POST comments"]);
  refused = null;
  void pen.save();
  await settled();
  expect(texts()).toEqual(["And here"]);
});

test("what cannot be saved stays in the box, says why, and is not sent", async () => {
  await begun(1, "First");
  refused = "POST comments";
  expect(await pen.save()).toBe(false);
  expect(pen.problem).toBe("The comment was not saved: The disk is full.");
  expect(await pen.send("it", [pen.writing as Writing])).toBeNull();
  await pen.begin(at(31));
  expect(pen.writing).toMatchObject({ line: 1, text: "First" });
  expect(told).toEqual([]);
});
