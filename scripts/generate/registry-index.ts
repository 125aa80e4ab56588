import { readdir, readFile } from "node:fs/promises";
import { registerHooks } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { z } from "zod";
import { componentDefinition } from "../../domain/component/definition-schema.ts";
import type { ComponentDefinition } from "../../domain/component/definition.ts";
import { needsEvent } from "../../runner/sandbox/guest/component/describe.ts";

const entryName = "component.ts";
/** A package with its version, `pg@8.23.1`: the builder installs it. A definition does not need it, so it is empty here. */
const packageImport = /^[\w-]+@\d[\w.-]*$/;
const emptyModule = "data:text/javascript,export default undefined;";

/** The exports of a registry module that the index needs. */
const exported = z.looseObject({
  name: z.string(),
  key: z.string(),
  type: z.enum(["source", "action"]),
  version: z.string(),
  description: z.string(),
  dedupe: z.string().optional(),
  annotations: z.object({ released: z.iso.date() }),
  props: z.record(z.string(), z.union([z.string(), z.looseObject({ type: z.string() })])),
  hooks: z.record(z.string(), z.unknown()).default({}),
  additionalProps: z.unknown().optional(),
  run: z.unknown(),
});

/**
 * `registry/index.json`: the API's description of each component before it is built. The components are our own, so they may be
 * loaded here. A test compares the index with the result of the builder and the sandbox for the same files.
 */
export async function registryIndex(directory: string): Promise<string> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      packageImport.test(specifier) ? { url: emptyModule, shortCircuit: true } : next(specifier, context),
  });
  const files = await readdir(directory, { recursive: true });
  const paths = files.filter((file) => basename(file) === entryName).toSorted();
  const entries: object[] = [];
  for (const entry of paths) entries.push(await describe(directory, entry));
  hooks.deregister();
  return `${JSON.stringify(entries, undefined, 2)}\n`;
}

async function describe(directory: string, entry: string): Promise<object> {
  const path = join(directory, entry);
  const module: { default: unknown } = await import(path);
  const component = exported.parse(module.default);
  const modules = [...(await modulesOf(path))].map((file) => relative(directory, file)).toSorted();
  return {
    key: component.key,
    entry,
    files: modules.filter((file) => file !== entry),
    released: component.annotations.released,
    definition: define(component),
  };
}

function define(component: z.infer<typeof exported>): ComponentDefinition {
  const { name, key, type, version, description, dedupe, props, hooks, additionalProps, run } = component;
  return componentDefinition.parse({
    name,
    type,
    key,
    version,
    description,
    ...(dedupe === undefined ? {} : { dedupe }),
    // JSON omits functions.
    props: Object.entries(props).map(([prop, given]) => ({ ...(typeof given === "string" ? { type: given } : given), name: prop })),
    hooks: ["deploy", "activate", "deactivate"].filter((hook) => hook in hooks),
    hasAdditionalProps: typeof additionalProps === "function",
    ...(needsEvent(run) && { needsEvent: true }),
  });
}

/** The module and the modules that it imports by relative paths. */
async function modulesOf(path: string, found: Set<string> = new Set()): Promise<Set<string>> {
  if (found.has(path)) return found;
  found.add(path);
  const text = await readFile(path, "utf8");
  for (const [, specifier = ""] of text.matchAll(/^import\s[^;]*?from\s*"(\.[^"]+)"/gm))
    await modulesOf(join(dirname(path), specifier), found);
  return found;
}
