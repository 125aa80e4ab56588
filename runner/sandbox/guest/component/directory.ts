/** The Node layer's modules; without that layer nobody can look into a directory. */
interface NodeLayer {
  readonly __builtin?: (name: string) => { mkdirSync(path: string, options: { readonly recursive: boolean }): void };
}

/** A `dir` prop: the path of a directory of its own under /tmp, which is in memory. */
export function directoryProp(name: string): string {
  const path = `/tmp/${name.replaceAll(/[^\w-]/g, "_")}`;
  (globalThis as NodeLayer).__builtin?.("fs").mkdirSync(path, { recursive: true });
  return path;
}
