import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { KubeApiClient } from "../../../test/support/kube/kube-api-client.ts";

export const namespace = "bench";
/** Has no owner: nothing reconciles the sources in it. */
export const bareNamespace = "bare";
export const owner = "u_bench0000001";
const apiVersion = "headwater.dev/v1alpha1";
const code = `export default { name: "Bench", props: { timer: "$.interface.timer", note: "string" }, run() {} };`;
/** Requests under way while sources are applied. */
const atOnce = 24;

export const pathOf = (plural: string, of = namespace): string => `/apis/${apiVersion}/namespaces/${of}/${plural}`;

const source = z.object({
  metadata: z.object({ name: z.string(), generation: z.number() }),
  status: z
    .object({
      observedGeneration: z.number().optional(),
      conditions: z.array(z.object({ type: z.string(), status: z.string(), message: z.string() })).optional(),
    })
    .optional(),
});
type Source = z.infer<typeof source>;

export const nameOf = (n: number): string => `source-${n}`;

/** The owner's namespace with one component that is built already, and a namespace without an owner. */
export async function createComponent(client: KubeApiClient): Promise<void> {
  const createNamespace = (name: string, labels: Readonly<Record<string, string>>) =>
    client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
  await createNamespace(bareNamespace, {});
  await createNamespace(namespace, { "headwater.dev/owner": owner });
  const component = await client.create(pathOf("components"), {
    apiVersion,
    kind: "Component",
    metadata: { name: "bench", namespace },
    spec: { code },
  });
  const status = { id: "sc_bench001", observedGeneration: 1, updatedAt: Date.now(), build, conditions: [ready] };
  const answer = await client.request("PUT", `${pathOf("components")}/bench/status`, { ...component, status });
  if (answer.status >= 300) throw new Error(`the component's status was refused: ${JSON.stringify(answer.body)}`);
}

/** Applies so many sources of the component, each with a timer, by server-side apply. @returns ms */
export async function applySources(client: KubeApiClient, count: number, to = namespace): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  const apply = async (): Promise<void> => {
    while (next < count) {
      const name = nameOf(next++);
      const spec = { name, componentRef: { name: "bench" }, props: { timer: { intervalSeconds: 3_600 }, note: "first" } };
      await client.apply(`${pathOf("sources", to)}/${name}`, { apiVersion, kind: "Source", metadata: { name, namespace: to }, spec });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, apply));
  return performance.now() - startedAt;
}

export async function deleteSources(client: KubeApiClient, of: string): Promise<void> {
  const { status, body } = await client.request("DELETE", pathOf("sources", of));
  if (status >= 300) throw new Error(`the sources were not deleted: ${JSON.stringify(body)}`);
}

const ready = {
  type: "Ready",
  status: "True",
  reason: "Built",
  message: "built",
  lastTransitionTime: "2026-11-21T00:00:00Z",
  observedGeneration: 1,
};
const build = {
  bundle: "0".repeat(64),
  bundleBytes: 100,
  codeHash: "0".repeat(64),
  needsNode: false,
  packages: [],
  definition: {
    name: "Bench",
    type: "source",
    props: [
      { name: "timer", type: "$.interface.timer" },
      { name: "note", type: "string" },
    ],
    hooks: [],
    hasAdditionalProps: false,
  },
};

function isSettled({ metadata, status }: Source): boolean {
  return (
    status?.observedGeneration === metadata.generation &&
    status.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True") === true
  );
}

/** How many sources are ready as their spec says, and one that is not. */
export async function settledSources(client: KubeApiClient): Promise<{ readonly settled: number; readonly example: string | undefined }> {
  const page = z.object({ items: z.array(source), metadata: z.object({ continue: z.string().optional() }) });
  let settled = 0;
  let example: string | undefined;
  let next: string | undefined;
  do {
    const query = next === undefined ? "" : `&continue=${encodeURIComponent(next)}`;
    const { items, metadata } = page.parse((await client.request("GET", `${pathOf("sources")}?limit=1000${query}`)).body);
    for (const item of items) {
      if (isSettled(item)) settled++;
      else example ??= JSON.stringify(item);
    }
    next = metadata.continue === "" ? undefined : metadata.continue;
  } while (next !== undefined);
  return { settled, example };
}

/** Changes one source after the other. @returns ms from each request until the status shows the new generation as ready */
export async function timeChanges(client: KubeApiClient, count: number, changes: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < changes; n++) {
    const path = `${pathOf("sources")}/${nameOf(Math.floor(Math.random() * count))}`;
    const startedAt = performance.now();
    const merge = { "content-type": "application/merge-patch+json" };
    const { status, body } = await client.request("PATCH", path, { spec: { props: { note: `change ${n}` } } }, merge);
    if (status >= 300) throw new Error(`a change was refused: ${JSON.stringify(body)}`);
    while (!isSettled(source.parse((await client.request("GET", path)).body))) await sleep(5);
    times.push(performance.now() - startedAt);
  }
  return times;
}
