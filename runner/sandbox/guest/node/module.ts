import { unsupportedModule } from "./errors.ts";

type Builtin = (name: string) => unknown;

/** `node:module`: `createRequire` reaches the built-ins; everything else was bundled at deploy. */
export function createModule(names: readonly string[], builtin: Builtin): object {
  const isBuiltin = (name: string): boolean => names.includes(String(name).replace(/^node:/, ""));
  const createRequire = (): object =>
    Object.assign((name: string) => builtin(name), {
      resolve: (name: string) => name,
      cache: {},
      main: undefined,
      extensions: {},
    });
  class Module {}
  return Object.assign(
    Module,
    unsupportedModule(
      "module",
      ["register", "registerHooks", "findSourceMap", "stripTypeScriptTypes"],
      "modules were bundled when the component was deployed",
    ),
    {
      builtinModules: [...names],
      createRequire,
      isBuiltin,
      Module,
      _extensions: {},
      _cache: {},
      _pathCache: {},
      syncBuiltinESMExports: () => {},
      enableCompileCache: () => ({}),
      constants: {},
    },
  );
}
