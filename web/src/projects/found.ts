// What a folder's files say about how to work in it. Nothing is run and nothing is sure: these are suggestions to edit.

export type Suggestion = { setup: string; dev: string; about: string[] };

type Sign = { file: string; about: string; setup?: string; dev?: string; instead?: string };

/** Each attempt has a port of its own; most dev servers take it so. */
const PORT = '--port "$FORGE_DEV_PORT"';

// The first sign of a kind counts; `instead` names the kind.
const SIGNS: readonly Sign[] = [
  {
    file: "pnpm-lock.yaml",
    about: "pnpm",
    setup: "pnpm install --frozen-lockfile",
    dev: `pnpm dev ${PORT}`,
    instead: "js",
  },
  {
    file: "yarn.lock",
    about: "yarn",
    setup: "yarn install --immutable",
    dev: `yarn dev ${PORT}`,
    instead: "js",
  },
  {
    file: "bun.lock",
    about: "bun",
    setup: "bun install --frozen-lockfile",
    dev: `bun run dev ${PORT}`,
    instead: "js",
  },
  {
    file: "bun.lockb",
    about: "bun",
    setup: "bun install --frozen-lockfile",
    dev: `bun run dev ${PORT}`,
    instead: "js",
  },
  { file: "package-lock.json", about: "npm", setup: "npm ci", dev: `npm run dev -- ${PORT}`, instead: "js" },
  { file: "package.json", about: "npm", setup: "npm install", dev: `npm run dev -- ${PORT}`, instead: "js" },
  { file: "Cargo.toml", about: "Rust", setup: "cargo fetch" },
  { file: "go.mod", about: "Go", setup: "go mod download" },
  { file: "uv.lock", about: "Python", setup: "uv sync", instead: "python" },
  { file: "poetry.lock", about: "Python", setup: "poetry install", instead: "python" },
  { file: "pyproject.toml", about: "Python", instead: "python" },
  { file: "requirements.txt", about: "Python", instead: "python" },
  { file: "Gemfile", about: "Ruby", setup: "bundle install" },
  { file: "composer.json", about: "PHP", setup: "composer install" },
  { file: "mix.exs", about: "Elixir", setup: "mix deps.get" },
];

/** What the names of the files in a folder suggest. */
export function suggest(names: readonly string[]): Suggestion {
  const there = new Set(names);
  const kinds = new Set<string>();
  const suggestion: Suggestion = { setup: "", dev: "", about: [] };
  const setups: string[] = [];
  for (const sign of SIGNS) {
    if (!there.has(sign.file)) continue;
    if (sign.instead) {
      if (kinds.has(sign.instead)) continue;
      kinds.add(sign.instead);
    }
    suggestion.about.push(sign.about);
    if (sign.setup) setups.push(sign.setup);
    suggestion.dev ||= sign.dev ?? "";
  }
  suggestion.setup = setups.join("\n");
  return suggestion;
}

/** The last part of a path: what a project is called until somebody says otherwise. */
export const nameOf = (path: string) => path.replace(/\/+$/, "").split("/").pop() ?? "";

/** What was typed, as the folder to list and the beginning of a name in it. */
export function splitTyped(typed: string): { folder: string; begin: string } {
  const slash = typed.lastIndexOf("/");
  if (slash < 0) return { folder: "", begin: typed };
  return { folder: typed.slice(0, slash) || "/", begin: typed.slice(slash + 1) };
}
