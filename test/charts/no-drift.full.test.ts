import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { chart, findProgram, helm, objectsOf, render, renderObjects, type Rendered } from "../support/helm.ts";
import { isOnPath } from "../../scripts/programs.ts";
import { withKubeApi, type KubeApi } from "../support/kube/kube-api.ts";

/**
 * GitOps tools apply the same manifests again and again, and report each difference. A real API server sets defaults, normalizes
 * values and counts generations, so it shows what a tool would report. No controllers run there: the Jobs never end.
 */
const applied = await withKubeApi({ own: true, crds: false });
const installed = await withKubeApi({ own: true, crds: false });
const hasTools = findProgram("helm") !== undefined && applied.hasKubectl && isOnPath("diff");
const missing = applied.missing ?? (hasTools ? undefined : "helm, kubectl or diff was not found");
const suite = missing === undefined ? describe : describe.skip;
const why = missing === undefined ? "" : ` (skipped: ${missing})`;

/** Everything that a value of the chart adds, except resources of definitions that the API server does not have. */
const flags = [
  `--values=${join(chart, "values-ha.yaml")}`,
  "--set=postgres.enabled=true,dashboards.enabled=true,owner.quota.pods=10,api.adminApi=true",
  "--set=kubernetesIngress.enabled=true,kubernetesIngress.apiHost=api.example.com,kubernetesIngress.endpointsHost=in.example.com",
];
const stored = z.object({ kind: z.string(), metadata: z.object({ name: z.string(), resourceVersion: z.string() }) });
const list = z.object({ items: z.array(stored) });

suite(`manifests that are applied again${why}`, () => {
  let manifests: string;
  const kubectl = (args: readonly string[]) => applied.kubectl([...args, "-f", "-"], manifests);

  beforeAll(async () => {
    manifests = await render(...flags);
    expect(await applied.kubectl(["create", "namespace", "headwater"])).toMatchObject({ code: 0 });
    // Objects may come before their namespace or definition: kubectl is run again, as a GitOps tool does.
    await kubectl(["apply", "--server-side"]);
    expect(await kubectl(["apply", "--server-side"])).toMatchObject({ code: 0, stderr: "" });
  });

  it("show no difference to what the API server stored, applied on the server's side", async () => {
    expect(await kubectl(["diff", "--server-side"])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("show a difference after another client changed an object, and none after the next apply", async () => {
    const scale = ["--namespace", "headwater", "patch", "deployment", "headwater-api", "--type=merge", "-p", '{"spec":{"replicas":7}}'];
    expect(await applied.kubectl(scale)).toMatchObject({ code: 0 });
    const { code, stdout } = await kubectl(["diff", "--server-side", "--force-conflicts"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining("-  replicas: 7")]);
    expect(await kubectl(["apply", "--server-side", "--force-conflicts"])).toMatchObject({ code: 0 });
    expect(await kubectl(["diff", "--server-side"])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("leave every stored object as it was", async () => {
    const before = await versionsOf(applied, objectsOf(manifests));
    expect(await kubectl(["apply", "--server-side"])).toMatchObject({ code: 0 });
    expect(await versionsOf(applied, objectsOf(manifests))).toEqual(before);
  });
});

suite(`a release that Helm upgrades with the same values${why}`, () => {
  const run = async (...args: readonly string[]): Promise<void> => {
    const where = ["--namespace", "headwater", "--no-hooks", "--kubeconfig", installed.kubeconfigPath];
    const { code, stderr } = await helm([...args, ...where]);
    expect(code, stderr).toBe(0);
  };

  it("keeps every object except those that an upgrade creates as hooks", async () => {
    await run("install", "headwater", chart, "--create-namespace", ...flags);
    const upgraded = await renderObjects("--is-upgrade", ...flags);
    const lasting = upgraded.filter(({ metadata }) => metadata.annotations?.["helm.sh/hook"] === undefined);
    expect(lasting.length).toBeGreaterThan(40);
    const before = await versionsOf(installed, lasting);
    await run("upgrade", "headwater", chart, ...flags);
    expect(await versionsOf(installed, lasting)).toEqual(before);
    await run("upgrade", "headwater", chart, "--reset-then-reuse-values");
    expect(await versionsOf(installed, lasting)).toEqual(before);
  });
});

/** The version of each object, by kind and name. @throws if one is missing */
async function versionsOf(kube: KubeApi, objects: readonly Rendered[]): Promise<ReadonlyMap<string, string>> {
  const { code, stdout, stderr } = await kube.kubectl(["get", "-f", "-", "-o", "json"], JSON.stringify(listOf(objects)));
  expect(code, stderr).toBe(0);
  return new Map(list.parse(JSON.parse(stdout)).items.map(({ kind, metadata }) => [`${kind} ${metadata.name}`, metadata.resourceVersion]));
}

const listOf = (items: readonly Rendered[]): object => ({ apiVersion: "v1", kind: "List", items });
