// How the board is built: hashed files under `dist/`, which the server carries inside its binary.
// `npm run dev` serves it with live reload and passes the API through to a running `forge serve`.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
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

export default defineConfig({
  plugins: [react(), compressed()],
  build: {
    target: "es2023",
    assetsDir: "assets",
    // An inlined file would be a `data:` URL, which the content security policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // The colours are tested as the style sheet has them; other style sheets say nothing to a test.
  test: { css: { include: /tokens\.css/ } },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": { target: server, ws: true, changeOrigin: true } },
  },
});
