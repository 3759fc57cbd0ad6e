// What a CLI tells of what the model served, in the words of Forge: input without what came from the cache, and that
// beside it. No CLI tells less than it does here without a line that says so.

/** How each CLI tells usage. */
const WAYS = {
  // Every request, as the model counts it.
  all: (turns) => sum(turns.flat()),
  // Every request; what comes from the cache is not told apart.
  uncached: (turns) => {
    const { input, cached, output } = sum(turns.flat());
    return { input: input + cached, cached: null, output };
  },
  // Of each turn its last request alone: the answer to a prompt has the figures of the last message, and nothing else has
  // any. The recordings of opencode show it: two requests in `writes`, and the figures of the second.
  lastOfTurn: (turns) => sum(turns.map((requests) => requests.at(-1))),
};

/** What Forge should have counted for turns, each a list of what the requests of it were served. */
export function told(way, turns) {
  return WAYS[way](turns);
}

/** What Forge has counted for an attempt. */
export function counted({ input_tokens: input, cache_read_tokens: cached, output_tokens: output }) {
  return { input, cached: cached ?? null, output };
}

function sum(requests) {
  const of = (key) => requests.reduce((total, usage) => total + usage[key], 0);
  return { input: of("input"), cached: of("cached"), output: of("output") };
}
