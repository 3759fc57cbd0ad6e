import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Listener, live } from "../api/live";
import type { Diff, LiveMessage, PatchOpDiffValue } from "../api/types";
import { changed } from "./sample";
import { DiffStore } from "./store";

const file = (path: string, newContent: string | null = null): Diff =>
  newContent === null
    ? changed(path)
    : changed(path, { contentOmitted: false, oldContent: "before", newContent });

/** The files as the server has them, and what it is asked and tells. */
let served: Record<string, string>;
let listener: Listener;

const tell = (value: PatchOpDiffValue[]) =>
  listener.message({ topic: "t", position: 1, value } as LiveMessage);
const add = (path: string): PatchOpDiffValue => ({
  op: "add",
  path: `/entries/${path}`,
  value: { type: "DIFF", content: file(path) },
});
/** What a new connection begins with: the list is emptied by a message of its own, then filled. */
const tellAll = (...paths: string[]) => {
  tell([{ op: "replace", path: "/entries", value: {} }]);
  tell(paths.map(add));
};

beforeEach(() => {
  served = { "a.js": "one" };
  vi.stubGlobal("document", { hidden: true });
  vi.spyOn(live, "follow").mockImplementation((_, it) => {
    listener = it;
    return () => {};
  });
  vi.stubGlobal("fetch", async (url: string) => {
    const diffs = new URL(url, "http://x").searchParams
      .getAll("path")
      .filter((path) => path in served)
      .map((path) => file(path, served[path]));
    return { ok: true, json: async () => ({ success: true, data: { diffs } }) };
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function opened() {
  const store = new DiffStore("attempt", null);
  store.start();
  tellAll("a.js");
  store.want("a.js");
  await vi.waitFor(() => expect(shown(store)).toBe("one"));
  return store;
}
const shown = (store: DiffStore, path = "a.js") => {
  const content = store.content(path);
  return content?.state === "known" ? content.diff.newContent : undefined;
};

test("what came before the page was drawn is there at once, and is not drawn again when it is followed", () => {
  const message = (value: PatchOpDiffValue[]) => ({ topic: "t", position: 1, value }) as LiveMessage;
  const told = [message([{ op: "replace", path: "/entries", value: {} }]), message([add("a.js")])];
  const heard = vi.spyOn(live, "heard").mockImplementation(() => told);
  const store = new DiffStore("attempt", null);
  expect([store.isKnown, [...store.files.keys()]]).toEqual([true, ["a.js"]]);
  const [files, end] = [store.files, store.start()];
  for (const one of told) listener.message(one);
  expect(store.files).toBe(files);
  tell([add("b.js")]);
  expect([...store.files.keys()]).toEqual(["a.js", "b.js"]);
  end();
  // Where nobody has it any more, everything is told anew.
  const late = new DiffStore("attempt", null);
  heard.mockImplementation(() => []);
  late.start();
  tellAll("c.js");
  expect([...late.files.keys()]).toEqual(["c.js"]);
});

test("a file that was replaced while the server was away is shown as it is now, though its counts are the same", async () => {
  const store = await opened();
  served["a.js"] = "two";
  tellAll("a.js");
  store.want("a.js");
  await vi.waitFor(() => expect(shown(store)).toBe("two"));
});

test("a file that is read does not change under the reader, also after a new connection", async () => {
  const store = await opened();
  store.read(new Set(["a.js"]));
  served["a.js"] = "two";
  tellAll("a.js");
  store.want("a.js");
  await vi.waitFor(() => expect([...store.held]).toEqual(["a.js"]));
  expect(shown(store)).toBe("one");
  store.update();
  store.want("a.js");
  await vi.waitFor(() => expect(shown(store)).toBe("two"));
});

test("what is the same after a new connection stays, and nothing waits", async () => {
  const store = await opened();
  const before = store.content("a.js");
  store.read(new Set(["a.js"]));
  tellAll("a.js");
  store.want("a.js");
  await new Promise((done) => setTimeout(done, 20));
  expect(store.content("a.js")).toBe(before);
  expect(store.held.size).toBe(0);
});

test("a file that is not changed any more after a new connection is gone", async () => {
  const store = await opened();
  tellAll("b.js");
  expect([...store.files.keys()]).toEqual(["b.js"]);
});
