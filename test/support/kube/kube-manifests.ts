import { z } from "zod";
import { waitUntil } from "../../../domain/retry.ts";
import { messageOf, type KubeApiClient } from "./kube-api-client.ts";

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string | undefined };
}

const resources = z.object({ resources: z.array(z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean() })) });

/**
 * Applies the objects one after the other on the server's side, as `kubectl apply --server-side --force-conflicts` does, but without a process that
 * reads the schema of the whole API first. Returns the server's warnings. @throws with the server's message when it refuses an object
 */
export async function applyObjects(
  client: KubeApiClient,
  objects: readonly Manifest[],
  { isDryRun = false }: { readonly isDryRun?: boolean } = {},
): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const object of objects) {
    const path = `${await pathOf(client, object)}?fieldManager=test&force=true${isDryRun ? "&dryRun=All" : ""}`;
    const answer = await client.request("PATCH", path, object, { "content-type": "application/apply-patch+yaml" });
    if (answer.status >= 300) throw new Error(`${object.kind} ${object.metadata.name}: ${messageOf(answer)}`);
    warnings.push(...answer.warnings);
  }
  return warnings;
}

/** The path of the object. A kind of a definition that was just applied is served a moment later. */
async function pathOf(client: KubeApiClient, { apiVersion, kind, metadata: { name, namespace } }: Manifest): Promise<string> {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const known = knownKinds.get(client) ?? new Map<string, string>();
  knownKinds.set(client, known);
  const key = `${root} ${kind}`;
  const find = async (): Promise<boolean> => {
    const listed = resources.safeParse((await client.request("GET", root)).body);
    for (const each of listed.data?.resources ?? [])
      if (!each.name.includes("/")) known.set(`${root} ${each.kind}`, each.namespaced ? `namespaces/*/${each.name}` : each.name);
    return known.has(key);
  };
  if (!known.has(key) && !(await waitUntil(find, 60_000, 100)))
    throw new Error(`the API server does not serve the kind ${kind} of ${apiVersion}`);
  return `${root}/${known.get(key)?.replace("*", namespace ?? "default")}/${name}`;
}

const knownKinds = new WeakMap<KubeApiClient, Map<string, string>>();
