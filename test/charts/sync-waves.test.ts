import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chart, findProgram, renderObjects, type Rendered } from "../support/helm.ts";

/**
 * Argo CD applies a wave only when all objects of the earlier ones are healthy. An object whose pods refer to one of a later wave would
 * never be healthy.
 */
const missing = findProgram("helm") === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : "";
const values = (name: string): string => `--values=${join(import.meta.dirname, `values-${name}.yaml`)}`;
const variants: readonly (readonly string[])[] = [
  [],
  ["--set", "backup.enabled=true,backup.restore=2026-11-27T02-17-01-204Z,priorityClasses.enabled=true,api.service.type=LoadBalancer"],
  ["--set", "backup.enabled=true,secrets.generate=false"],
  [values("tls")],
  [values("external")],
  [`--values=${join(chart, "values-ha.yaml")}`, values("ha")],
];

const waveOf = ({ metadata }: Rendered): number => Number(metadata.annotations?.["argocd.argoproj.io/sync-wave"] ?? 0);
const identity = (kind: string, name: string): string => `${kind} ${name}`;

/** Fields of a pod that name another object, and its kind. A generated Secret is made by the Job of the Secrets. */
const references = [
  ["ServiceAccount", /"serviceAccountName":"([^"]+)"/g],
  ["PriorityClass", /"priorityClassName":"([^"]+)"/g],
  ["ConfigMap", /"configMap":\{"name":"([^"]+)"/g],
  ["PersistentVolumeClaim", /"claimName":"([^"]+)"/g],
] as const;

function referredTo(object: Rendered): readonly string[] {
  const text = JSON.stringify(object["spec"] ?? {});
  return references.flatMap(([kind, pattern]) => [...text.matchAll(pattern)].map(([, name = ""]) => identity(kind, name)));
}

/** Healthy only once something runs: a pod, a load balancer, or the pod that a volume waits for. */
const waits = ({ kind, spec }: Rendered): boolean =>
  ["Deployment", "StatefulSet", "Job", "CronJob", "PersistentVolumeClaim", "Ingress"].includes(kind) ||
  (kind === "Service" && JSON.stringify(spec).includes('"type":"LoadBalancer"'));

describe.skipIf(missing !== "")(`sync waves of the chart${missing}`, () => {
  it.each(variants)("need nothing of a later wave: %j %j", async (...flags) => {
    const objects = await renderObjects(...flags.filter((flag) => flag !== undefined));
    const waves = new Map(objects.map((object) => [identity(object.kind, object.metadata.name), waveOf(object)]));
    const late = objects.flatMap((object) =>
      referredTo(object)
        .filter((name) => (waves.get(name) ?? 0) > waveOf(object))
        .map((name) => `${identity(object.kind, object.metadata.name)} needs ${name}`),
    );
    expect(late).toEqual([]);
    // Rights, policies and configuration come before everything that runs.
    for (const object of objects)
      expect(waveOf(object) > 0, identity(object.kind, object.metadata.name)).toBe(waits(object) || isOfRole(object));
  });

  it("run the Jobs before what needs them", async () => {
    const objects = await renderObjects();
    const wave = (kind: string, name: string): number => {
      const found = objects.find((object) => object.kind === kind && object.metadata.name.startsWith(name));
      return found === undefined ? Number.NaN : waveOf(found);
    };
    const [secrets, servers, setup, roles] = [
      wave("Job", "headwater-create-secrets"),
      wave("StatefulSet", "headwater-nats"),
      wave("Job", "headwater-setup"),
      wave("Deployment", "headwater-api"),
    ];
    expect([secrets, servers, setup, roles].toSorted()).toEqual([secrets, servers, setup, roles]);
    expect(new Set([0, secrets, servers, setup, roles]).size).toBe(5);
    expect(wave("StatefulSet", "headwater-postgres")).toBe(servers);
  });
});

/** A Service of a role may be a load balancer, so all of them come with the roles. */
const isOfRole = ({ kind, metadata }: Rendered): boolean => kind === "Service" && /^headwater-(?:api|admin|ingress)$/.test(metadata.name);
