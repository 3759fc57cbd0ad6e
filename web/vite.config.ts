// How the board is built: hashed files under `dist/`, which the server carries inside its binary.
// `npm run dev` serves it with live reload and passes the API through to a running `forge serve`.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin, Rolldown } from "vite";
import { defineConfig } from "vitest/config";

const server = process.env.FORGE_BASE_URL ?? "http://127.0.0.1:8887";

/** Writes `x.gz` beside every script and style `x`, so that the server need not compress: it only picks. */
const compressed = (): Plugin => ({
  name: "compressed",
  apply: "build",
  writeBundle({ dir }, files) {
    for (const name of Object.keys(files)) {
      if (!dir || !/\.(js|css|svg|json)$/.test(name)) continue;
      const path = join(dir, name);
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
    }
  },
});

/** The parts that a page always needs, by the first word of its address: `src/app/ahead.ts` asks for the same. */
const PAGES = {
  p: ["board/BoardPage.tsx"],
  a: ["attempt/AttemptPage.tsx", "changes/Changes.tsx", "landing/LandingStrip.tsx"],
  inbox: ["inbox/InboxPage.tsx"],
  settings: ["settings/SettingsPage.tsx"],
};

/** What modules are fetched in: the files that they and what they need are in, in this order, scripts first. */
function filesOf(bundle: Rolldown.OutputBundle, modules: readonly string[]): readonly string[] {
  const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
  const found = new Set(
    modules.map((module) => {
      const holder = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(`/src/${module}`)));
      if (!holder) throw new Error(`No script has ${module}.`);
      return holder;
    }),
  );
  // A set that grows while it is walked through is walked to its end.
  for (const { imports } of found)
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) found.add(chunk);
  const styles = [...found].flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]);
  return [...new Set([...[...found].map(({ fileName }) => fileName), ...styles])];
}

/**
 * What draws is fetched with the page, not only when the first script asks for it; and what a page of an address needs,
 * too. So there is a page for each kind of address, `pages/a.html` and the like, which differ in that only.
 */
const preloaded = (): Plugin => ({
  name: "preloaded",
  apply: "build",
  enforce: "post",
  generateBundle(_, bundle) {
    const index = bundle["index.html"];
    if (index?.type !== "asset") throw new Error("There is no page.");
    const plain = String(index.source);
    const withLinks = (modules: readonly string[]) => {
      const links = filesOf(bundle, modules)
        .filter((name) => !plain.includes(`"/${name}"`))
        .map((name) => {
          const rel = name.endsWith(".css") ? "stylesheet" : "modulepreload";
          return `    <link rel="${rel}" crossorigin href="/${name}">\n`;
        });
      return plain.replace("  </head>", () => `${links.join("")}  </head>`);
    };
    for (const [kind, parts] of Object.entries(PAGES))
      this.emitFile({
        type: "asset",
        fileName: `pages/${kind}.html`,
        source: withLinks(["draw.tsx", ...parts]),
      });
    index.source = withLinks(["draw.tsx"]);
  },
});

type Modules = { getModuleInfo(id: string): { importedIds: readonly string[] } | null };

/** Tells whether a module is one that others need before they can run, themselves included. */
const neededBy = (...roots: string[]) => {
  let found: Set<string> | null = null;
  return (id: string, modules: Modules) => {
    if (!found) {
      found = new Set(roots.map((root) => join(import.meta.dirname, "src", root)));
      for (const one of found)
        for (const next of modules.getModuleInfo(one)?.importedIds ?? []) found.add(next);
    }
    return found.has(id);
  };
};
const begins = neededBy("main.ts");
const draws = neededBy("draw.tsx");
const board = neededBy("board/BoardPage.tsx");
const attempt = neededBy("attempt/AttemptPage.tsx", "changes/Changes.tsx", "landing/LandingStrip.tsx");
const compare = neededBy("landing/ComparePage.tsx");
const isCommon = (id: string) =>
  /\/src\/(app|facts|ui)\/|\/node_modules\/(@tanstack|virtua|wouter)\//.test(id) && !isHeavy(id);
/** Not every page has words or colours of an agent to show. */
const isHeavy = (id: string) => /\/(Markdown|Ansi)\.|\/node_modules\/(marked|anser)\//.test(id);

/**
 * The file that a module goes into; null leaves it to the bundler, which makes a file of whatever the same pages share.
 * A browser fetches six files at a time, so what a page always needs comes in few of them.
 */
function fileOf(id: string, modules: Modules): string | null {
  if (begins(id, modules)) return "index";
  if (isHeavy(id)) return null;
  const isBoard = board(id, modules);
  const isAttempt = attempt(id, modules);
  if (draws(id, modules) || (isCommon(id) && (isBoard || isAttempt))) return "frame";
  if (isBoard) return "board";
  if (isAttempt) return compare(id, modules) ? "landing" : "attempt";
  return null;
}

export default defineConfig({
  plugins: [react(), compressed(), preloaded()],
  build: {
    target: "es2023",
    assetsDir: "assets",
    // An inlined file would be a `data:` URL, which the content security policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ debugName: "pages", name: fileOf }],
          // Otherwise a file takes with it whatever its modules need.
          includeDependenciesRecursively: false,
        },
      },
    },
  },
  // The colours are tested as the style sheet has them; other style sheets say nothing to a test.
  test: { css: { include: /tokens\.css/ } },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": { target: server, ws: true, changeOrigin: true } },
  },
});
