/** The Node layer's modules; undefined without that layer, when directories cannot be used. */
interface NodeLayer {
  readonly __builtin?: (name: string) => { mkdirSync(path: string, options: { readonly recursive: boolean }): void };
}

/** A `dir` prop: the path of its own directory under /tmp (in memory). */
export function directoryProp(name: string): string {
  const path = `/tmp/${name.replaceAll(/[^\w-]/g, "_")}`;
  (globalThis as NodeLayer).__builtin?.("fs").mkdirSync(path, { recursive: true });
  return path;
}
