import { afterEach, describe, expect, it, vi } from "vitest";
import { type Listener, live } from "../../api/live";
import type { LiveMessage, NormalizedEntry } from "../../api/types";
import { type Placed, Transcript, upsert } from "./transcript";
import { keyAt } from "./whole";

const said = (content: string): NormalizedEntry => ({
  content,
  entry_type: { type: "assistant_message" },
  metadata: null,
  timestamp: null,
});
const at = (run: string, index: number, content = `${run}${index}`): Placed => ({
  key: keyAt(run, index),
  run,
  index,
  entry: said(content),
});
const words = (entries: readonly Placed[]) => entries.map(({ entry }) => entry.content).join(" ");
const ORDER = ["a", "b"];
const ROOM = Number.POSITIVE_INFINITY;

describe("what comes live", () => {
  it("is added at the end, and a newer form replaces the older", () => {
    const one = upsert([at("a", 0)], ORDER, "a", [{ index: 1, entry: said("new") }], ROOM, false);
    expect(words(one.entries)).toBe("a0 new");
    const two = upsert(one.entries, ORDER, "a", [{ index: 1, entry: said("newer") }], ROOM, false);
    expect(words(two.entries)).toBe("a0 newer");
    expect([one.added, two.added]).toEqual([1, 0]);
  });

  it("finds its place when it is told again from the beginning", () => {
    const window = [at("a", 5), at("a", 6)];
    const batch = [4, 5, 6, 7].map((index) => ({ index, entry: said(`a${index}`) }));
    expect(words(upsert(window, ORDER, "a", batch, ROOM, true).entries)).toBe("a5 a6 a7");
  });

  it("of an earlier run stands before that of a later one", () => {
    const { entries } = upsert([at("b", 0)], ORDER, "a", [{ index: 9, entry: said("late") }], ROOM, false);
    expect(words(entries)).toBe("late b0");
  });

  it("is left out when there is no room, and counted", () => {
    const batch = [1, 2].map((index) => ({ index, entry: said(`a${index}`) }));
    const { entries, leftOut } = upsert([at("a", 0)], ORDER, "a", batch, 1, false);
    expect(words(entries)).toBe("a0 a1");
    expect(leftOut).toBe(1);
  });
});

describe("what does not come", () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });

  /** A window on ten entries of which the last three came first; `isThere` is whether the server answers. */
  async function opened() {
    const server = { isThere: true };
    vi.spyOn(live, "follow").mockImplementation(() => () => {});
    vi.stubGlobal("fetch", async (url: string) => {
      if (!server.isThere) return { ok: false, json: async () => ({ success: false, message: "Not now." }) };
      const before = new URL(url, "http://x").searchParams.get("before");
      const indexes = before ? [0, 1, 2, 3, 4, 5, 6] : [7, 8, 9];
      const entries = indexes.map((index) => ({
        execution_process_id: "a",
        index,
        entry: said(`a${index}`),
      }));
      const runs = [{ id: "a", is_over: true, after: null }];
      const data = { entries, has_more: before === null, has_newer: false, runs };
      return { ok: true, json: async () => ({ success: true, data }) };
    });
    const transcript = new Transcript("attempt");
    await transcript.open();
    return { transcript, server };
  }

  it("is said, and comes when it is asked for again", async () => {
    const { transcript, server } = await opened();
    server.isThere = false;
    await transcript.older();
    expect(transcript.now().problem).toMatchObject({
      what: "Earlier messages are",
      error: { message: "Not now." },
    });
    expect(words(transcript.now().entries)).toBe("a7 a8 a9");
    server.isThere = true;
    transcript.now().problem?.again();
    await vi.waitFor(() => expect(transcript.now().problem).toBeNull());
    expect(transcript.now().entries.length).toBe(10);
  });

  it("of another place leaves what is shown", async () => {
    const { transcript, server } = await opened();
    server.isThere = false;
    await transcript.open("a:2");
    expect(transcript.now().problem?.what).toBe("That place is");
    expect(words(transcript.now().entries)).toBe("a7 a8 a9");
    server.isThere = true;
    // A page that comes meanwhile is no answer to that.
    await transcript.older();
    expect(transcript.now().problem?.what).toBe("That place is");
    expect(transcript.now().entries.length).toBe(10);
    await transcript.open();
    expect(transcript.now().problem).toBeNull();
  });

  it("is told from what came, and asked for in the way of whoever wanted it", async () => {
    const { transcript, server } = await opened();
    const again = vi.fn();
    server.isThere = false;
    expect(await transcript.open("a:2", again)).toBe("failed");
    transcript.now().problem?.again();
    expect(again).toHaveBeenCalledOnce();
    server.isThere = true;
    expect(await transcript.open("a:2")).toBe("taken");
  });

  it("is asked for anew by who wants the end, when there is nothing yet", async () => {
    const { server } = await opened();
    const transcript = new Transcript("attempt");
    server.isThere = false;
    await transcript.open();
    server.isThere = true;
    await transcript.end();
    expect(words(transcript.now().entries)).toBe("a7 a8 a9");
  });
});

describe("answers that come in another order than they were asked for", () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });

  /** Answers wait until they are called for by a part of their address; `made` tells that the run was made anew. */
  function slowly() {
    const waiting = new Map<string, () => void>();
    let listener: Listener | undefined;
    vi.spyOn(live, "follow").mockImplementation((_, it) => {
      listener = it;
      return () => {};
    });
    vi.stubGlobal("fetch", async (url: string) => {
      await new Promise<void>((go) => waiting.set(url, go));
      const query = new URL(url, "http://x").searchParams;
      const from = query.has("around") ? 10 : query.has("before") ? 40 : 50;
      const entries = [0, 1].map((step) => ({
        execution_process_id: "a",
        index: from + step,
        entry: said(`a${from + step}`),
      }));
      const runs = [{ id: "a", is_over: false, after: null, entries: 52 }];
      const data = { entries, has_more: true, has_newer: query.has("around"), runs };
      return { ok: true, json: async () => ({ success: true, data }) };
    });
    const answer = async (part: string) => {
      const url = [...waiting.keys()].find((it) => it.includes(part)) ?? "";
      waiting.get(url)?.();
      waiting.delete(url);
      // As many turns as an answer takes on its way.
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    };
    const made = () => listener?.message({ topic: "entries:a", resync: true } as LiveMessage);
    return { transcript: new Transcript("attempt"), answer, made };
  }

  it("do not add a page to a window that was moved meanwhile", async () => {
    const { transcript, answer } = slowly();
    void transcript.open();
    await answer("entries");
    void transcript.older();
    void transcript.open("a:10");
    await answer("around");
    await answer("before");
    expect(words(transcript.now().entries)).toBe("a10 a11");
  });

  it("leave the window where the person went last", async () => {
    const { transcript, answer } = slowly();
    void transcript.open();
    await answer("entries");
    void transcript.open("a:10");
    void transcript.open();
    await answer("entries?limit");
    await answer("around");
    expect(words(transcript.now().entries)).toBe("a50 a51");
    expect(transcript.now().hasNewer).toBe(false);
  });

  it("do not lead away from the end, or from what is shown, where the person stays", async () => {
    const { transcript, answer } = slowly();
    void transcript.open();
    await answer("entries");
    const first = transcript.open("a:10");
    expect(await transcript.end()).toBe("taken");
    await answer("around");
    expect(await first).toBe("overtaken");
    const second = transcript.open("a:10");
    transcript.stay();
    await answer("around");
    expect(await second).toBe("overtaken");
    expect(words(transcript.now().entries)).toBe("a50 a51");
    expect(transcript.now().hasNewer).toBe(false);
  });

  it("leave nobody without an answer who wants the end before anything has come", async () => {
    const { transcript, answer } = slowly();
    void transcript.open("a:10");
    void transcript.end();
    await answer("around");
    expect(transcript.now().isKnown).toBe(false);
    await answer("entries?limit");
    expect(words(transcript.now().entries)).toBe("a50 a51");
  });

  it("are waited for when the run was made anew, wherever the person went meanwhile", async () => {
    const { transcript, answer, made } = slowly();
    void transcript.open();
    await answer("entries");
    const before = transcript.now().entries;
    made();
    void transcript.open("a:10");
    void transcript.end();
    await answer("around");
    await answer("entries?limit");
    expect(transcript.now().entries).not.toBe(before);
    expect(words(transcript.now().entries)).toBe("a50 a51");
  });
});
