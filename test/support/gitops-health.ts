import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LuaFactory } from "wasmoon";
import { parse } from "yaml";
import { z } from "zod";

/** The status that Flux computes for an object. */
type Kstatus = "InProgress" | "Failed" | "Current" | "Terminating";

const object = z.object({
  metadata: z.object({ generation: z.number(), deletionTimestamp: z.string().optional() }),
  status: z
    .object({
      observedGeneration: z.number().optional(),
      conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
    })
    .prefault({}),
});

/**
 * The rules of https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus for kinds that it does not know, in their
 * order. The generation comes before the conditions: those of an older generation say nothing about the last change.
 */
export function kstatusOf(value: unknown): Kstatus {
  const { metadata, status } = object.parse(value);
  const has = (type: string, wanted: string): boolean => status.conditions.some((each) => each.type === type && each.status === wanted);
  if (metadata.deletionTimestamp !== undefined) return "Terminating";
  if (status.observedGeneration !== undefined && status.observedGeneration !== metadata.generation) return "InProgress";
  if (has("Reconciling", "True")) return "InProgress";
  if (has("Stalled", "True")) return "Failed";
  return has("Ready", "False") || has("Ready", "Unknown") ? "InProgress" : "Current";
}

const health = z.object({ status: z.enum(["Healthy", "Progressing", "Degraded"]), message: z.string() });
type ArgoHealth = z.infer<typeof health>;

const setting = "resource.customizations.health.headwater.dev_*";

/** The check that docs/kubernetes.md has users add to Argo CD. */
function readCheck(): string {
  const page = readFileSync(join(import.meta.dirname, "../../docs/kubernetes.md"), "utf8");
  const block = page.split("```yaml\n").find((text) => text.startsWith(setting));
  return z.object({ [setting]: z.string() }).parse(parse(block?.split("```")[0] ?? ""))[setting] ?? "";
}

const lua = new LuaFactory();
/** By object: a test looks at most of them many times. */
const known = new Map<string, Promise<ArgoHealth>>();

/** Runs the check on an object in Lua, as Argo CD does: `obj` is the object, and the result a table. */
export function argoHealthOf(object: unknown): Promise<ArgoHealth> {
  const text = luaOf(object);
  const found = known.get(text) ?? check(text);
  known.set(text, found);
  return found;
}

async function check(object: string): Promise<ArgoHealth> {
  const engine = await lua.createEngine();
  try {
    return health.parse(await engine.doString(`local obj = ${object}\n${readCheck()}`));
  } finally {
    engine.global.close();
  }
}

/** A value of JSON as Lua writes it. Null is absent, as it is in Argo CD. */
function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{ ${value.map(luaOf).join(", ")} }`;
  if (typeof value !== "object" || value === null)
    return value === null ? "nil" : JSON.stringify(value).replaceAll(/\\u(\w{4})/g, "\\u{$1}");
  const fields = Object.entries(value).map(([name, field]) => `[${luaOf(name)}] = ${luaOf(field)}`);
  return `{ ${fields.join(", ")} }`;
}

/** What Flux and Argo CD make of an object. */
export type ToolVerdicts = readonly [kstatus: Kstatus, argo: ArgoHealth["status"]];

export async function toolVerdictsOf(object: unknown): Promise<ToolVerdicts> {
  return [kstatusOf(object), (await argoHealthOf(object)).status];
}
