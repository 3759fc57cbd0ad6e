import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { QueuedFollowUp } from "../../api/types";
import { goOn, putBack, readQueue, sendNow, withdraw, writeDraft } from "./send";

/** A server with the queue and the draft of one attempt, as the real one keeps them. */
class Server {
  isAtRest = false;
  /** Calls that are refused, as "POST follow-up". */
  refuses = new Set<string>();
  /** The calls that it was away for. */
  away = new Set<string>();
  told: string[] = [];
  items: Array<{ id: string; prompt: string; comments: readonly string[] }> = [];
  /** The comments that went with something. */
  taken = new Set<string>();
  draft = { prompt: "", item: null as string | null };
  #next = 1;

  queue(prompt: string, comments: readonly string[] = []) {
    const id = `q${this.#next++}`;
    this.items.push({ id, prompt, comments });
    for (const comment of comments) this.taken.add(comment);
    return id;
  }

  queueAsDraft(prompt: string) {
    this.draft = { prompt, item: this.queue(prompt) };
  }

  /** Everything that is kept anywhere. */
  get known() {
    return [...this.told, ...this.items.map(({ prompt }) => prompt), this.draft.prompt];
  }

  list = () =>
    this.items.map(({ id, prompt, comments }, position) => ({
      id,
      prompt,
      position,
      variant: null,
      image_ids: null,
      comment_ids: comments,
    }));

  #goOn() {
    this.isAtRest = false;
    for (const { id, prompt } of this.items.splice(0)) {
      this.told.push(prompt);
      if (this.draft.item === id) this.draft = { prompt: "", item: null };
    }
  }

  answer(
    method: string,
    path: string,
    body: { prompt?: string; position?: number; comment_ids?: string[]; ids?: string[] },
  ) {
    const [, id = ""] = /queue\/(.+)$/.exec(path) ?? [];
    const at = this.items.findIndex((it) => it.id === id);
    switch (`${method} ${path.replace(/^.*\/api\/task-attempts\/a\/|\?.*$/g, "")}`) {
      case "GET draft":
        return { prompt: this.draft.prompt, queued: this.draft.item !== null, image_ids: null };
      case "PUT draft":
        if (this.draft.item) throw new Error("Draft is queued");
        this.draft.prompt = body.prompt ?? "";
        return {};
      case "POST draft/queue":
        if (!this.draft.item) this.queueAsDraft(this.draft.prompt);
        if (this.isAtRest) this.#goOn();
        return {};
      case "GET queue":
        return this.list();
      case "POST follow-up":
        for (const comment of body.comment_ids ?? []) this.taken.add(comment);
        if (!this.isAtRest && this.items.length > 0) this.queue(body.prompt ?? "", body.comment_ids);
        else this.told.push(body.prompt ?? "");
        return {};
      case "POST comments/sent":
        for (const comment of body.ids ?? []) this.taken.add(comment);
        return [];
      case `DELETE queue/${id}`:
        if (at < 0) throw new Error("not waiting");
        if (this.draft.item === id) this.draft.item = null;
        for (const comment of this.items.splice(at, 1)[0]?.comments ?? []) this.taken.delete(comment);
        return this.list();
      case `PUT queue/${id}`:
        this.items.splice(body.position ?? 0, 0, ...this.items.splice(at, 1));
        return this.list();
      default:
        throw new Error(`${method} ${path}`);
    }
  }
}

let server: Server;
beforeEach(() => {
  server = new Server();
  // Nobody waits before a call is tried again.
  vi.stubGlobal("setTimeout", queueMicrotask);
  vi.stubGlobal("fetch", async (url: string, { method = "GET", body }: RequestInit) => {
    const call = `${method} ${url.replace(/^.*\/a\/|\?.*$/g, "").replace(/queue\/.+/, "queue/*")}`;
    if (server.away.has(call)) throw new TypeError("Failed to fetch");
    try {
      if (server.refuses.has(call)) throw new Error("No.");
      const data = server.answer(method, url, JSON.parse(String(body ?? "{}")));
      return Response.json({ success: true, data });
    } catch (error) {
      return Response.json({ success: false, message: String(error) }, { status: 409 });
    }
  });
});
afterEach(() => vi.unstubAllGlobals());

const waiting = () => readQueue("a");
const only = async () => (await waiting())[0] as QueuedFollowUp;
const prompts = async () => (await waiting()).map(({ prompt }) => prompt);

it("comments go along wherever their message goes, and come back when it is taken back", async () => {
  const put = () => server.queue("look at line 3", ["c1"]);
  put();
  await withdraw("a", (await only()).id);
  expect([...server.taken], "taken back").toEqual([]);
  for (const act of [
    async () => sendNow("a", await only()),
    async () => goOn("a", await waiting()),
    async () => {
      const item = await only();
      await withdraw("a", item.id);
      await putBack("a", item);
    },
  ]) {
    server = new Server();
    put();
    await act();
    expect([...server.taken], String(act)).toEqual(["c1"]);
  }
});

it("what was written last is the draft, however long what was written before it is on its way", async () => {
  const { fetch } = globalThis;
  let arrive = () => {};
  const road = new Promise<void>((done) => {
    arrive = done;
  });
  vi.stubGlobal("fetch", async (url: string, request: RequestInit) => {
    if (String(request.body).includes("second third")) await road;
    return fetch(url, request);
  });
  const writes = ["second third", "third"].map((prompt) =>
    writeDraft("a", { prompt, variant: null, image_ids: [] }),
  );
  arrive();
  await Promise.all(writes);
  expect(server.draft.prompt).toBe("third");
  // One that is refused holds up nothing.
  server.refuses.add("PUT draft");
  const refused = writeDraft("a", { prompt: "fourth", variant: null, image_ids: [] });
  await expect(refused).rejects.toThrow("No.");
  server.refuses.clear();
  await writeDraft("a", { prompt: "fifth", variant: null, image_ids: [] });
  expect(server.draft.prompt).toBe("fifth");
});

describe("sending now what waits", () => {
  for (const [how, put] of [
    ["a draft", () => server.queueAsDraft("hurry")],
    ["by itself", () => void server.queue("hurry")],
  ] as const) {
    it(`tells the agent, once (${how})`, async () => {
      put();
      await sendNow("a", await only());
      expect([server.told, server.items, server.draft.prompt]).toEqual([["hurry"], [], ""]);
    });

    it(`lets it wait again when the agent cannot be told (${how})`, async () => {
      put();
      server.refuses.add("POST follow-up");
      await expect(sendNow("a", await only())).rejects.toThrow("No.");
      expect([server.told, await prompts()]).toEqual([[], ["hurry"]]);
    });

    it(`loses nothing whenever the server goes away (${how})`, async () => {
      for (const call of ["GET draft", "PUT draft", "DELETE queue/*", "POST follow-up"]) {
        server = new Server();
        put();
        const item = await only();
        server.away.add(call).add("POST draft/queue");
        await sendNow("a", item).catch(() => {});
        expect(server.known, call).toContain("hurry");
      }
    });
  }
});

describe("a queue that stands still", () => {
  it("goes on in its order", async () => {
    for (const asDraft of [0, 2, null]) {
      server = new Server();
      server.isAtRest = true;
      ["one", "two", "three"].forEach((prompt, index) => {
        if (index === asDraft) server.queueAsDraft(prompt);
        else server.queue(prompt);
      });
      await goOn("a", await waiting());
      expect(server.told).toEqual(["one", "two", "three"]);
    }
  });

  it("keeps what it has when it may not go on", async () => {
    server.isAtRest = true;
    server.queue("one");
    server.queue("two");
    server.refuses.add("POST draft/queue");
    await expect(goOn("a", await waiting())).rejects.toThrow("No.");
    expect(server.known).toEqual(expect.arrayContaining(["one", "two"]));
  });
});

describe("what was taken back", () => {
  it("comes to its place again, and is not told to an agent that works", async () => {
    for (const asDraft of [0, 2, null])
      for (const place of [0, 1, 2]) {
        server = new Server();
        ["one", "two", "three"].forEach((prompt, index) => {
          if (index === asDraft) server.queueAsDraft(prompt);
          else server.queue(prompt);
        });
        const item = (await waiting())[place] as QueuedFollowUp;
        await withdraw("a", item.id);
        server.draft.prompt = "";
        await putBack("a", item);
        expect([await prompts(), server.told]).toEqual([["one", "two", "three"], []]);
      }
  });

  it("waits also when nothing else does", async () => {
    server.queue("alone");
    const item = await only();
    await withdraw("a", item.id);
    await putBack("a", item);
    expect([await prompts(), server.told]).toEqual([["alone"], []]);
  });
});
