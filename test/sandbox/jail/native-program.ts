import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../../..");
/** Koffi and its native package. */
export const packages = join(root, "node_modules");

/** Bundles a program of this folder that calls the kernel past Node. */
export async function buildNativeProgram(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [join(import.meta.dirname, entry)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    plugins: [
      {
        name: "leave-native-code",
        setup: ({ onResolve }) => onResolve({ filter: /^koffi$/ }, () => ({ path: join(packages, "koffi/index.js"), external: true })),
      },
    ],
  });
}
