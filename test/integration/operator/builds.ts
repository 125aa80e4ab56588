import { createHash } from "node:crypto";
import type { Build, ComponentDefinition, PropDefinition } from "../../../domain/component/definition.ts";
import { InvalidInput } from "../../../domain/errors.ts";

interface Module {
  readonly name?: string;
  readonly type?: ComponentDefinition["type"];
  readonly props?: Readonly<Record<string, string | { readonly type: string; readonly [field: string]: unknown }>>;
  readonly hooks?: Readonly<Record<string, unknown>>;
}

/** Builds a module without imports by running it here: for code that a test wrote. */
export async function evaluatedBuild(code: string): Promise<Build> {
  const hash = createHash("sha256").update(code).digest("hex");
  const module = await evaluate(code);
  const props = Object.entries(module.props ?? {}).map(([name, prop]): PropDefinition => {
    const { type, ...fields } = typeof prop === "string" ? { type: prop } : prop;
    return { name, type, ...fields };
  });
  const hooks = (["deploy", "activate", "deactivate"] as const).filter((hook) => module.hooks?.[hook] !== undefined);
  const definition: ComponentDefinition = {
    name: module.name ?? "Untitled",
    type: module.type ?? "source",
    props,
    hooks,
    hasAdditionalProps: false,
  };
  return { codeHash: hash, bundle: hash, bundleBytes: code.length, needsNode: false, definition, lockfile: null };
}

async function evaluate(code: string): Promise<Module> {
  try {
    const module: { readonly default: Module } = await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
    return module.default;
  } catch (error) {
    throw new InvalidInput(`the component cannot be evaluated: ${String(error)}`, { cause: error });
  }
}
