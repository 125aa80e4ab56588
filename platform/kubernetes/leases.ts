import { z } from "zod";
import type { Kubernetes } from "./access/connection.ts";
import { undefinedWhenMissing } from "./errors.ts";
import { pathOf } from "./paths.ts";

/** Content of a Lease. Its times are informational: no decision depends on them. */
export interface LeaseRecord {
  /** Empty: released. */
  readonly holder: string;
  readonly leaseSeconds: number;
  /** RFC 3339 with microseconds. */
  readonly acquireTime: string | undefined;
  readonly renewTime: string | undefined;
  /** How often the leader changed. */
  readonly transitions: number;
  /** Version of the Lease when it was read; replacing an older one conflicts. Empty before it is created. */
  readonly version: string;
}

/** One Lease. Every call ends with its signal. */
export interface Leases {
  find(signal: AbortSignal): Promise<LeaseRecord | undefined>;
  /** @throws Conflict when it exists */
  create(record: LeaseRecord, signal: AbortSignal): Promise<LeaseRecord>;
  /** @throws Conflict when it has changed since it was read */
  replace(record: LeaseRecord, signal: AbortSignal): Promise<LeaseRecord>;
}

const leaseObject = z.object({
  metadata: z.object({ resourceVersion: z.string() }),
  spec: z
    .object({
      holderIdentity: z.string().nullish(),
      leaseDurationSeconds: z.number().nullish(),
      acquireTime: z.string().nullish(),
      renewTime: z.string().nullish(),
      leaseTransitions: z.number().nullish(),
    })
    .default({}),
});

/** Requires the rights get, create and update on `leases` in the namespace. */
export function kubernetesLeases(kubernetes: Kubernetes, { namespace, name }: { namespace: string; name: string }): Leases {
  const collection = pathOf(["apis", "coordination.k8s.io", "v1", "namespaces", namespace, "leases"]);
  const path = `${collection}${pathOf([name])}`;
  const body = (record: LeaseRecord): object => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace, ...(record.version === "" ? {} : { resourceVersion: record.version }) },
    spec: {
      holderIdentity: record.holder,
      leaseDurationSeconds: record.leaseSeconds,
      acquireTime: record.acquireTime,
      renewTime: record.renewTime,
      leaseTransitions: record.transitions,
    },
  });
  return {
    find: (signal) => kubernetes.request({ method: "GET", path, signal }).then(recordFrom).catch(undefinedWhenMissing),
    create: async (record, signal) =>
      recordFrom(await kubernetes.request({ method: "POST", path: collection, body: body(record), signal })),
    replace: async (record, signal) => recordFrom(await kubernetes.request({ method: "PUT", path, body: body(record), signal })),
  };
}

function recordFrom(answer: unknown): LeaseRecord {
  const { metadata, spec } = leaseObject.parse(answer);
  return {
    holder: spec.holderIdentity ?? "",
    leaseSeconds: spec.leaseDurationSeconds ?? 0,
    acquireTime: spec.acquireTime ?? undefined,
    renewTime: spec.renewTime ?? undefined,
    transitions: spec.leaseTransitions ?? 0,
    version: metadata.resourceVersion,
  };
}

/** MicroTime of the Kubernetes API. */
export const microTime = (epochMs: number): string => new Date(epochMs).toISOString().replace("Z", "000Z");
