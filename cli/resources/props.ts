import { withStoreIds } from "./data-stores.ts";
import type { Session } from "./session.ts";
import type { Spec } from "./manifest.ts";
import { recordOf } from "../values.ts";

/** Props as the API takes them: with the texts of secrets. A text that is JSON stands for its value. */
export async function configuredProps(
  session: Session,
  { props = {}, secrets = {} }: Spec,
  what: string,
): Promise<Record<string, unknown>> {
  const secretValues = Object.entries(recordOf(secrets, `secrets of ${what}`)).map(([name, reference]) => {
    return [name, valueOf(session.secret(reference, `${what}: secrets.${name}`))] as const;
  });
  return { ...(await withStoreIds(session, props, what)), ...Object.fromEntries(secretValues) };
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Props as resources have them: timers in camelCase, without values that the server makes. */
export function propsOf(configured: unknown): Spec {
  const entries = Object.entries(recordOf(configured ?? {}, "configured_props")).flatMap(([name, value]) => {
    const prop = resourceProp(value);
    return prop === undefined ? [] : [[name, prop] as const];
  });
  return Object.fromEntries(entries);
}

function resourceProp(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const fields = value as Spec; // Any object.
  if ("endpoint_url" in fields || fields["type"] === "$.service.db") return undefined;
  if (!("interval_seconds" in fields) && !("cron" in fields)) return value;
  return Object.fromEntries(
    [
      ["intervalSeconds", fields["interval_seconds"]],
      ["cron", fields["cron"]],
      ["timezone", fields["timezone"]],
      ["jitterSeconds", fields["jitter_seconds"]],
    ].filter(([, each]) => each !== null && each !== undefined),
  );
}

/** The parts of a spec that say which code runs, as the API takes them. */
export async function codeBody(session: Session, spec: Spec, what: string): Promise<Record<string, unknown>> {
  const { code, files, entry, url, codeFrom, componentRef, componentKey } = spec;
  if (codeFrom !== undefined)
    return { component_code: session.configMap(recordOf(codeFrom, what)["configMapKeyRef"], `${what}: codeFrom`) };
  if (componentRef !== undefined) return { component_id: await session.idOf("Component", String(recordOf(componentRef, what)["name"])) };
  if (componentKey !== undefined) return { key: componentKey };
  if (url !== undefined) return { component_url: url };
  return {
    component_code: code,
    ...(files === undefined ? {} : { component_files: files }),
    ...(entry === undefined ? {} : { component_entry: entry }),
  };
}

/** The same parts in the form of `specOf`: the code itself, or the component's id. */
export async function normalCode(session: Session, spec: Spec, what: string): Promise<Spec> {
  const { component_code: code, component_id: id, key } = await codeBody(session, spec, what);
  if (typeof id === "string") return { componentRef: { name: id.replace("_", "-") } };
  if (key !== undefined) return { componentKey: key };
  return code === undefined ? { url: spec["url"] } : { code };
}

/** The code of a component, of the registry its key. */
export async function codeOf(session: Session, componentId: unknown, componentKey?: unknown): Promise<Spec> {
  if (typeof componentKey === "string") return { componentKey };
  if (typeof componentId !== "string") return {};
  const { code, files = [] } = await session.component(componentId);
  // The API returns the paths of other files, not their texts.
  return Array.isArray(files) && files.length > 1 ? { componentRef: { name: componentId.replace("_", "-") } } : { code };
}
