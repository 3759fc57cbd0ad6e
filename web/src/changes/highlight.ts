// Colours for code, by a small tokenizer: comments, strings, numbers and keywords of the common languages. Loaded after
// the first lines are on the screen; it looks only at the lines up to those that are shown.

export type TokenKind = "comment" | "string" | "number" | "keyword" | "name";
export type Token = readonly [from: number, to: number, kind: TokenKind];

type Language = {
  line: readonly string[];
  blocks: ReadonlyArray<readonly [open: string, close: string, kind: "comment" | "string"]>;
  quotes: string;
  words: ReadonlySet<string>;
};

const words = (text: string) => new Set(text.split(" "));
const C_BLOCK = ["/*", "*/", "comment"] as const;

const SCRIPT = words(
  "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace new null of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while yield",
);
const RUST = words(
  "as async await box break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
);
const GO = words(
  "break case chan const continue default defer else fallthrough false for func go goto if import interface iota map nil package range return select struct switch true type var",
);
const C = words(
  "abstract auto bool boolean break byte case catch char class const constexpr continue default delete do double else enum explicit extends extern false final finally float for friend fun goto if implements import in inline instanceof int interface internal is let long namespace native new null nullptr object operator override package private protected public record register return sealed short signed sizeof static struct super switch template this throw throws true try typedef typename union unsigned using val var virtual void volatile when while",
);
const PYTHON = words(
  "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
);
const RUBY = words(
  "alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require",
);
const SHELL = words(
  "case do done elif else esac export fi for function if in local readonly return set shift source then unset until while",
);
const SQL = words(
  "add all alter and as asc begin between by case check column commit create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null on or order outer primary references right rollback select set table then union unique update using values view when where with",
);
const DATA = words("true false null yes no on off");
const NONE: ReadonlySet<string> = new Set();

const LANGUAGES: Record<string, Language> = {
  script: { line: ["//"], blocks: [C_BLOCK, ["`", "`", "string"]], quotes: "\"'", words: SCRIPT },
  rust: { line: ["//"], blocks: [C_BLOCK], quotes: '"', words: RUST },
  go: { line: ["//"], blocks: [C_BLOCK, ["`", "`", "string"]], quotes: "\"'", words: GO },
  c: { line: ["//"], blocks: [C_BLOCK], quotes: "\"'", words: C },
  python: {
    line: ["#"],
    blocks: [
      ['"""', '"""', "string"],
      ["'''", "'''", "string"],
    ],
    quotes: "\"'",
    words: PYTHON,
  },
  ruby: { line: ["#"], blocks: [], quotes: "\"'", words: RUBY },
  shell: { line: ["#"], blocks: [], quotes: "\"'", words: SHELL },
  data: { line: ["#"], blocks: [], quotes: "\"'", words: DATA },
  json: { line: ["//"], blocks: [C_BLOCK], quotes: '"', words: DATA },
  sql: { line: ["--"], blocks: [C_BLOCK], quotes: "'", words: SQL },
  lua: { line: ["--"], blocks: [], quotes: "\"'", words: RUBY },
  css: { line: [], blocks: [C_BLOCK], quotes: "\"'", words: NONE },
  markup: { line: [], blocks: [["<!--", "-->", "comment"]], quotes: "\"'", words: NONE },
};

const BY_ENDING: Record<string, string> = {};
for (const [language, endings] of Object.entries({
  script: "js mjs cjs jsx ts mts cts tsx vue svelte",
  rust: "rs",
  go: "go",
  c: "c h cc cpp cxx hpp java kt kts cs swift scala dart php m groovy proto",
  python: "py pyi",
  ruby: "rb ex exs",
  shell: "sh bash zsh fish",
  data: "yml yaml toml ini cfg conf properties env tf",
  json: "json jsonc json5",
  sql: "sql",
  lua: "lua hs elm",
  css: "css scss less",
  markup: "html htm xml svg",
}))
  for (const ending of endings.split(" ")) BY_ENDING[ending] = language;

export function languageOf(path: string): Language | null {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (/^(dockerfile|makefile|justfile|\.env.*)$/.test(name)) return LANGUAGES.shell ?? null;
  return LANGUAGES[BY_ENDING[name.slice(name.lastIndexOf(".") + 1)] ?? ""] ?? null;
}

// Anything beyond ASCII counts as a letter: that is right for names and much quicker than asking.
const PIECE = /[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*[?!]?|\d[\w.]*|\s+|./gs;
/** Longer lines are left as they are. */
const LONGEST = 2000;

/** The tokens of a text's lines, worked out from the top down to the line that is asked for. */
export class Painted {
  private readonly known: Array<readonly Token[]> = [];
  /** What is still open at the end of the last known line: which block, or none. */
  private open = -1;
  /** What a comment or a block can begin with. */
  private readonly beginnings: string;

  constructor(
    private readonly lines: readonly string[],
    private readonly language: Language,
  ) {
    this.beginnings = [...language.line, ...language.blocks.map(([open]) => open)]
      .map((mark) => mark[0])
      .join("");
  }

  /** The tokens of a line, counted from 1. */
  line(number: number): readonly Token[] {
    while (this.known.length < number && this.known.length < this.lines.length)
      this.known.push(this.next(this.lines[this.known.length] ?? ""));
    return this.known[number - 1] ?? [];
  }

  private next(text: string): Token[] {
    const tokens: Token[] = [];
    if (text.length > LONGEST) return tokens;
    const { line, blocks, quotes, words } = this.language;
    let at = 0;
    while (at < text.length) {
      if (this.open >= 0) {
        const [, close, kind] = blocks[this.open] ?? C_BLOCK;
        const end = text.indexOf(close, at);
        tokens.push([at, end < 0 ? text.length : end + close.length, kind]);
        if (end < 0) return tokens;
        at = end + close.length;
        this.open = -1;
        continue;
      }
      const sign = text[at] ?? "";
      const mayBegin = this.beginnings.includes(sign);
      const isComment =
        mayBegin &&
        line.some(
          (mark) => text.startsWith(mark, at) && (mark !== "#" || at === 0 || /\s/.test(text[at - 1] ?? "")),
        );
      if (isComment) {
        tokens.push([at, text.length, "comment"]);
        return tokens;
      }
      const block = mayBegin ? blocks.findIndex(([open]) => text.startsWith(open, at)) : -1;
      if (block >= 0) {
        const [open, close, kind] = blocks[block] ?? C_BLOCK;
        const end = text.indexOf(close, at + open.length);
        tokens.push([at, end < 0 ? text.length : end + close.length, kind]);
        if (end < 0) this.open = block;
        at = end < 0 ? text.length : end + close.length;
        continue;
      }
      if (quotes.includes(sign)) {
        let end = at + 1;
        while (end < text.length && text[end] !== sign) end += text[end] === "\\" ? 2 : 1;
        end = Math.min(text.length, end + 1);
        tokens.push([at, end, "string"]);
        at = end;
        continue;
      }
      PIECE.lastIndex = at;
      const piece = PIECE.exec(text)?.[0] ?? sign;
      const end = at + piece.length;
      if (/^\d/.test(piece)) tokens.push([at, end, "number"]);
      else if (words.has(piece) || (words === SQL && words.has(piece.toLowerCase())))
        tokens.push([at, end, "keyword"]);
      else if (/^[^\W\d]/.test(piece) && (text[end] === "(" || (text[end] === "!" && words === RUST)))
        tokens.push([at, end, "name"]);
      at = end;
    }
    return tokens;
  }
}
