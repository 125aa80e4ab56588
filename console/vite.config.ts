import { join } from "node:path";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The Content-Security-Policy of the console allows no inline script, so scripts are preloaded without Vite's polyfill. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  cacheDir: join(import.meta.dirname, "..", ".headwater", "vite"),
  build: {
    outDir: join(import.meta.dirname, "dist"),
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
    // All that the first page needs is one file: each further file would be a request.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: "first", tags: ["$initial"] }] } } },
  },
  // `npm run console -- --watch` serves the sources, and sends requests to an API that runs here.
  server: { proxy: { "/v1": "http://127.0.0.1:3000", "/admin/v1": "http://127.0.0.1:3000", "/console": "http://127.0.0.1:3000" } },
});
