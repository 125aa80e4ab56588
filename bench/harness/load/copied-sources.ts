import { randomUUID } from "node:crypto";
import { request } from "undici";
import { z } from "zod";
import { buckets, deploymentKey } from "../../../domain/subjects.ts";
import { Bucket } from "../../../platform/jetstream/buckets/bucket.ts";
import type { Connection } from "../../../platform/jetstream/connection/connection.ts";
import type { KubeApiClient } from "../../../test/support/kube/kube-api-client.ts";
import { nameOf, namespace, pathOf } from "./kube-sources.ts";

export interface CopyTarget {
  readonly client: KubeApiClient;
  readonly etcdUrl: string;
  readonly connection: Connection;
}

const copied = z.looseObject({
  metadata: z.looseObject({ name: z.string(), uid: z.string(), resourceVersion: z.string() }),
  status: z.looseObject({ id: z.string(), deployment: z.string(), pool: z.string() }),
});
const [atOnce, idLength] = [24, 9];

/**
 * Copies the first source, as the operator left it, to the numbers `from` to `to - 1`: its object into etcd, its entries into NATS. Its
 * timer is not copied. Deploying so many takes an hour; what an operator does at its start is the same.
 */
export async function copySources({ client, etcdUrl, connection }: CopyTarget, from: number, to: number): Promise<void> {
  const { body } = await client.request("GET", `${pathOf("sources")}/${nameOf(0)}`);
  const { metadata, ...first } = copied.parse(body);
  const { resourceVersion: _, ...stored } = metadata;
  const { id, deployment, pool } = first.status;
  const deployments = new Bucket<unknown>(connection, buckets.deployments, (json) => json);
  const versions = new Bucket<unknown>(connection, buckets.versions, (json) => json);
  const [object, entry, version] = [{ ...first, metadata: stored }, await deployments.get(deploymentKey(pool, id)), await versions.get(id)];
  let next = from;
  const copy = async (): Promise<void> => {
    while (next < to) {
      const n = next++;
      const ownId = `dc_${n.toString(36).padStart(idLength, "0")}`;
      const names: readonly (readonly [string, string])[] = [
        [`"${metadata.name}"`, `"${nameOf(n)}"`],
        [metadata.uid, randomUUID()],
        [id, ownId],
        [deployment, `d_${n.toString(36).padStart(idLength, "0")}`],
      ];
      const textOf = (value: unknown): string =>
        names.reduce((text, [name, replacement]) => text.replaceAll(name, replacement), JSON.stringify(value));
      await Promise.all([
        deployments.put(deploymentKey(pool, ownId), JSON.parse(textOf(entry))),
        versions.put(ownId, JSON.parse(textOf(version))),
      ]);
      await putInEtcd(etcdUrl, `/registry/headwater.dev/sources/${namespace}/${nameOf(n)}`, textOf(object));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, copy));
}

/** https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/ */
async function putInEtcd(etcdUrl: string, key: string, value: string): Promise<void> {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const answer = await request(`${etcdUrl}/v3/kv/put`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key: base64(key), value: base64(value) }),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`etcd refused a copy: ${text}`);
}
