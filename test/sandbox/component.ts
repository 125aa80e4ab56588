import { createHash, randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import type { Bundle } from "../../runner/sandbox/port.ts";

/** Makes a bundle of a component's code, in the form the builder makes them, and writes it to `directory`. */
export async function bundleComponent(directory: string, code: string, resolveDir = import.meta.dirname): Promise<Bundle> {
  const result = await build({
    stdin: { contents: `import * as component from "component"; __register(component);`, resolveDir, loader: "js" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    mainFields: ["main", "module"],
    conditions: ["node"],
    target: "esnext",
    logLevel: "silent",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [componentPlugin(code, resolveDir), builtinsPlugin],
  });
  const text = `(async()=>{"use strict";\n${result.outputFiles[0]?.text ?? ""}\n})().catch(error=>__register(null,error))`;
  return await writeBundle(directory, text, /__builtin\(|\bBuffer\b|\bprocess\b/.test(text));
}

/** Writes text that is a bundle already. At once: the same text may be written twice while a sandbox reads it. */
export async function writeBundle(directory: string, text: string, needsNode = false): Promise<Bundle> {
  const hash = createHash("sha256").update(text).digest("hex");
  const path = join(directory, `${hash}.js`);
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, text);
  await rename(draft, path);
  return { hash, path, needsNode };
}

function componentPlugin(code: string, resolveDir: string): Plugin {
  return {
    name: "component",
    setup(b) {
      b.onResolve({ filter: /^component$/ }, () => ({ path: "component.ts", namespace: "component" }));
      b.onLoad({ filter: /.*/, namespace: "component" }, () => ({ contents: code, loader: "ts", resolveDir }));
    },
  };
}

const builtinsPlugin: Plugin = {
  name: "builtins",
  setup(b) {
    const names = builtinModules.map((name) => name.replace("/", "\\/")).join("|");
    b.onResolve({ filter: new RegExp(`^(?:node:)?(?:${names})$`) }, ({ path }) => ({
      path: path.replace(/^node:/, ""),
      namespace: "builtin",
    }));
    b.onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = __builtin(${JSON.stringify(path)});`,
      loader: "js",
    }));
  },
};
