import type { OnResolveArgs, OnResolveResult } from "esbuild";
import { moduleName, moduleNamespace } from "./code-frame.ts";
import { resolveModule, type Modules } from "./modules.ts";

const none: ReadonlySet<string> = new Set();

/** Leads a relative import of a module to another one; an error's detail is the code of the refusal. */
export function importRelative(
  modules: Modules,
  { importer, path }: Pick<OnResolveArgs, "importer" | "path">,
  esModules: ReadonlySet<string> = none,
): OnResolveResult {
  const resolution = resolveModule(modules, importer, path);
  switch (resolution.outcome) {
    case "found":
      return { path: moduleName(resolution.path, esModules.has(resolution.path)), namespace: moduleNamespace };
    case "outside":
      return failed("import_refused", `import "${path}" is refused: it leads above the folder that holds the component's files`);
    case "missing":
      return failed("import_not_found", notFound(modules, importer, path, resolution.tried));
  }
}

const failed = (code: string, text: string): OnResolveResult => ({ errors: [{ text, detail: code }] });

function notFound(modules: Modules, importer: string, path: string, tried: readonly string[]): string {
  if (modules.texts.size === 1)
    return `import "${path}" is not found: the component came as one file; send the others with it (component_files), or an address from which they can be fetched (component_url)`;
  return `${importer} imports "${path}", which is not among the component's files: looked for ${tried.slice(0, 4).join(", ")}${tried.length > 4 ? " and with other extensions" : ""}`;
}
