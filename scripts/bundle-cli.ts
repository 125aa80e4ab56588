import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

/** Bundles the command line for its npm package: `cli/dist/hw.mjs`, with a file for each part that is loaded when it is used. */
const root = join(import.meta.dirname, "..");
const folder = join(root, "cli", "dist");
await rm(folder, { recursive: true, force: true });
await build({
  entryPoints: [{ in: join(root, "cli", "packaged.ts"), out: "hw" }],
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  chunkNames: "parts/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minifySyntax: true,
  legalComments: "inline",
  // Bundled CommonJS packages call require for Node's own modules.
  banner: {
    js: '#!/usr/bin/env node\nimport { createRequire as hwRequire } from "node:module"; const require = hwRequire(import.meta.url);',
  },
  loader: { ".txt": "text" },
});
await chmod(join(folder, "hw.mjs"), 0o755);
