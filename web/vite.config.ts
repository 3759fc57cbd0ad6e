// How the board is built: hashed files under `dist/`, which the server carries inside its binary.
// `npm run dev` serves it with live reload and passes the API through to a running `forge serve`.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { HtmlTagDescriptor, Plugin } from "vite";
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

/** The script that draws is fetched with the page, not only when the first script asks for it. */
const preloaded = (): Plugin => ({
  name: "preloaded",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler(html, { bundle = {} }) {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const drawing = chunks.find((chunk) => chunk.moduleIds.some((id) => id.endsWith("/src/draw.tsx")));
      if (!drawing) throw new Error("No script draws the board.");
      const names = [drawing.fileName, ...drawing.imports];
      const styles = new Set(
        chunks
          .filter((chunk) => names.includes(chunk.fileName))
          .flatMap((chunk) => [...(chunk.viteMetadata?.importedCss ?? [])]),
      );
      const link = (rel: string, name: string): HtmlTagDescriptor => ({
        tag: "link",
        attrs: { rel, crossorigin: true, href: `/${name}` },
        injectTo: "head",
      });
      return [
        ...names.map((name) => link("modulepreload", name)),
        ...[...styles].map((name) => link("stylesheet", name)),
      ].filter(({ attrs }) => !html.includes(`"${attrs?.href}"`));
    },
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
