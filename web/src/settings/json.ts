// Where a text stops being JSON, as a line a person can find. Browsers tell that in different ways or not at all, so it
// is looked for here.

export type JsonProblem = { line: number; words: string };
export type Parsed = { value: unknown; problem: null } | { value: null; problem: JsonProblem };

/** Reads JSON, or says in which line it stops being JSON. */
export function parseJson(text: string): Parsed {
  try {
    return { value: JSON.parse(text), problem: null };
  } catch {
    const { at, wanted } = stumble(text);
    const line = text.slice(0, at).split("\n").length;
    const found = at >= text.length ? "the text ends" : `there is ${JSON.stringify(text[at])}`;
    return { value: null, problem: { line, words: `Line ${line}: ${found} where ${wanted} should be.` } };
  }
}

class Stumble {
  constructor(
    readonly at: number,
    readonly wanted: string,
  ) {}
}

const BLANK = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const TEXT = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

function stumble(text: string): Stumble {
  const skip = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at;
    return pattern.test(text) ? pattern.lastIndex : -1;
  };
  const blank = (at: number) => skip(BLANK, at);
  const quoted = (at: number, wanted: string) => {
    const end = skip(TEXT, at);
    if (end < 0) throw new Stumble(at, text[at] === '"' ? "a text that ends in its own line" : wanted);
    return end;
  };
  const value = (begin: number): number => {
    const at = blank(begin);
    const sign = text[at];
    if (sign === "{" || sign === "[") return list(at, sign === "{");
    if (sign === '"') return quoted(at, "a text");
    const end = skip(SCALAR, at);
    if (end < 0) throw new Stumble(at, "a value");
    return end;
  };
  const list = (begin: number, isObject: boolean): number => {
    const close = isObject ? "}" : "]";
    let at = blank(begin + 1);
    if (text[at] === close) return at + 1;
    for (;;) {
      if (isObject) {
        at = blank(quoted(at, 'a name in "…"'));
        if (text[at] !== ":") throw new Stumble(at, '":"');
        at += 1;
      }
      at = blank(value(at));
      if (text[at] === close) return at + 1;
      if (text[at] !== ",") throw new Stumble(at, `"," or "${close}"`);
      at = blank(at + 1);
    }
  };
  try {
    const end = blank(value(0));
    return new Stumble(end, "the end");
  } catch (found) {
    if (found instanceof Stumble) return found;
    throw found;
  }
}

/** The first and last position of a line, counted from 1. */
export function rangeOfLine(text: string, line: number): [begin: number, end: number] {
  const lines = text.split("\n");
  const begin = lines.slice(0, line - 1).reduce((sum, it) => sum + it.length + 1, 0);
  return [begin, begin + (lines[line - 1]?.length ?? 0)];
}
