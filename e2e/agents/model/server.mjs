// A scripted model on loopback: it answers real coding agents in their providers' dialects, from scripts that a test
// registers, and writes every request down. It knows no agent and guesses nothing: what is not scripted is told so, and
// stands in the log.

import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

import * as anthropic from "./anthropic.mjs";
import * as chat from "./chat.mjs";
import * as gemini from "./gemini.mjs";
import * as responses from "./responses.mjs";
import { sample } from "./schema.mjs";

const DIALECTS = { anthropic, chat, gemini, responses };

const MARKER = /\[\[script:([\w-]+)\]\]/g;

/** The longest an answer is held back before it is given up: far above any test's deadline. */
const FOREVER_MS = 10 * 60_000;

export class Model {
  /** Every request, oldest first. */
  log = [];
  #scripts = new Map();
  #server;

  /** Starts a model on a free port of loopback. */
  static async start() {
    const model = new Model();
    model.#server = createServer((request, response) => {
      model.#answer(request, response).catch((error) => {
        model.log.push({ kind: "broken", path: request.url, error: String(error.stack ?? error) });
        response.destroy();
      });
    });
    // An agent may keep a connection for as long as it lives; a stopped one must not hold the test up.
    model.#server.keepAliveTimeout = 5_000;
    await new Promise((done, failed) => {
      model.#server.once("error", failed);
      model.#server.listen(0, "127.0.0.1", done);
    });
    return model;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /**
   * Registers a script: replies in order, one for each request of a turn. A reply is
   *   { think?, say?, call?, text?, words?, fail? }
   * where `call` is a function that is given the working directory, the tools that the agent offers and what tools have
   * answered in this turn, and returns { name, args } of one of them; a reply without one ends the turn. `text` may be a
   * function of those answers, too. `words: {count, ms}` streams that many words slowly; `fail: {status, times?, headers?,
   * body?}` refuses so many times first, or always.
   * Returns the words that a prompt must hold, and what is known about how the script was played.
   */
  register(id, replies) {
    let found;
    const cwd = new Promise((resolve) => (found = resolve));
    const script = { id, replies, cwd, played: replies.map(() => 0), failed: replies.map(() => 0) };
    this.#scripts.set(id, script);
    return { id, marker: `[[script:${id}]]`, runsIn: found };
  }

  /** The requests of a script's turns, oldest first. */
  turns(id) {
    return this.log.filter((request) => request.kind === "turn" && request.script === id);
  }

  /** What went otherwise than a script says, in sentences; nothing when all is well. */
  complaints(id) {
    const script = this.#scripts.get(id);
    const unread = script.played.flatMap((times, at) => (times === 0 ? [`reply ${at} was never asked for`] : []));
    const wrong = this.turns(id).flatMap((request) => request.complaint ?? []);
    return [...unread, ...wrong];
  }

  /** Requests that no script knows about. */
  strays() {
    return this.log.filter((request) => ["stray", "unknown", "broken"].includes(request.kind));
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #answer(request, response) {
    const path = new URL(request.url, this.url).pathname;
    const raw = await read(request);
    if (request.method === "HEAD") return send(response, 200, {});
    if (request.method === "GET") return this.#look(path, response);
    const counted = path.match(/(count_tokens|:countTokens)$/);
    if (counted) return send(response, 200, counted[1] === "count_tokens" ? { input_tokens: 100 } : { totalTokens: 100 });
    const name = Object.keys(DIALECTS).find((known) => DIALECTS[known].takes(path));
    if (!name) {
      this.log.push({ kind: "unknown", path });
      return send(response, 404, { error: { message: `no such endpoint: ${path}`, type: "not_found_error" } });
    }
    const dialect = DIALECTS[name];
    const asked = dialect.read(JSON.parse(raw), path);
    const noted = {
      kind: "turn",
      n: this.log.length,
      at: Date.now(),
      dialect: name,
      model: asked.model,
      streamed: asked.streamed,
      talk: asked.talk,
      tools: [...asked.tools.keys()],
      authorization: request.headers.authorization ?? request.headers["x-api-key"] ?? request.headers["x-goog-api-key"],
    };
    this.log.push(noted);
    let gone = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) {
        noted.hungUp = true;
        gone.abort();
      }
    });
    const reply = await this.#reply(asked, noted);
    noted.answer = reply.fail ? `status ${reply.fail.status}` : reply.call ? `call ${reply.call.name}` : (reply.text ?? "words");
    if (reply.fail) {
      const { status, headers, body } = reply.fail;
      return send(response, status, body ?? dialect.failure(status), headers);
    }
    // Figures that no other request has, so that sums can be told apart. The input is what came from no cache.
    noted.usage = { input: 1000 + 10 * noted.n, cached: 200 + noted.n, output: 50 + noted.n };
    if (!asked.streamed) return send(response, 200, dialect.whole(reply, asked.model, noted.usage));
    await stream(response, dialect.events(reply, asked.model, noted.usage), gone.signal);
  }

  /** Chooses the reply to a request: the script of the last prompt that names one, at the place it has reached. */
  async #reply(asked, noted) {
    const { id, heard } = place(asked.talk);
    const results = heard.length;
    // What a client asks on its own account (a title, which model to take) offers no tools.
    if (asked.tools.size === 0) {
      noted.kind = "side";
      return { text: asked.schema ? JSON.stringify(sample(asked.schema)) : "A short answer" };
    }
    const script = this.#scripts.get(id);
    if (!script) {
      noted.kind = "stray";
      return { text: `No script is called ${id}.` };
    }
    noted.script = id;
    noted.place = results;
    const reply = script.replies[results];
    if (!reply) {
      noted.complaint = `a request came after the script's end: ${results} tools were called`;
      return { text: "The script is over." };
    }
    if (reply.fail && script.failed[results] < (reply.fail.times ?? Infinity)) {
      script.failed[results] += 1;
      if (reply.fail.times === undefined) script.played[results] += 1;
      return { fail: reply.fail };
    }
    script.played[results] += 1;
    const { fail, call, ...rest } = reply;
    const cwd = call && (await script.cwd);
    let wanted;
    try {
      if (typeof rest.text === "function") rest.text = rest.text(heard);
      wanted = call?.(cwd, asked.tools, heard);
    } catch (error) {
      // A client would ask again and again for an answer that never comes.
      noted.complaint = `reply ${results} cannot be made: ${error.message}`;
      return { text: noted.complaint };
    }
    if (!wanted) return { text: "Done.", ...rest };
    if (!asked.tools.has(wanted.name)) {
      noted.complaint = `tool ${wanted.name} is not offered; there are ${noted.tools.join(", ")}`;
      return { text: noted.complaint };
    }
    const { freeform, namespace } = asked.tools.get(wanted.name);
    return { ...rest, call: { ...wanted, freeform, namespace } };
  }

  #look(path, response) {
    const names = ["fake-model", "gpt-4.1", "gemini-2.5-pro"];
    if (!path.endsWith("/models")) {
      this.log.push({ kind: "look", path });
      return send(response, 404, { error: { message: `no such page: ${path}`, type: "not_found_error" } });
    }
    const models = names.map((id) => ({ id, name: `models/${id}`, object: "model", type: "model", display_name: id }));
    return send(response, 200, { object: "list", has_more: false, data: models, models });
  }
}

/** Where a conversation is: the last script it names, and what tools have answered since. */
function place(talk) {
  let id;
  let heard = [];
  for (const part of talk) {
    const named = part.who === "user" ? [...part.text.matchAll(MARKER)].pop() : undefined;
    if (named) {
      id = named[1];
      heard = [];
    } else if (part.who === "result") {
      heard.push(part.text);
    }
  }
  return { id, heard };
}

async function read(request) {
  const unpack = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress };
  const packed = request.headers["content-encoding"];
  const plain = packed && packed !== "identity" ? request.pipe(unpack[packed]()) : request;
  const pieces = [];
  for await (const piece of plain) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

function send(response, status, body, headers = {}) {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(text);
}

async function stream(response, events, gone) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  try {
    for (const { event, data, wait } of events) {
      if (wait) await pause(Math.min(wait, FOREVER_MS), undefined, { signal: gone });
      if (gone.aborted) return;
      const named = event ? `event: ${event}\n` : "";
      response.write(`${named}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
    }
    response.end();
  } catch (error) {
    // The agent hung up in the middle, which the log says.
    if (error.name !== "AbortError") throw error;
  }
}
