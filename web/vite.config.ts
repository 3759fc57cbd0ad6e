// How the board is built: hashed files under `dist/`, which the server carries inside its binary.
// `npm run dev` serves it with live reload and passes the API through to a running `forge serve`.
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = process.env.FORGE_BASE_URL ?? "http://127.0.0.1:8887";

export default defineConfig({
  plugins: [react()],
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
