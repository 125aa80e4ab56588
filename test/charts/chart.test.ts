import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kinds } from "../../crds/kinds.ts";
import { parse } from "yaml";
import { z } from "zod";
import { chart, findProgram, helm, objectsOf, render, renderObjects } from "../support/helm.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const here = import.meta.dirname;
const missing = findProgram("helm") === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : "";
const suite = missing === "" ? describe : describe.skip;
const highAvailability = ["--values", join(chart, "values-ha.yaml")];
const valuesFile = (name: string): readonly string[] => [
  ...(name === "ha" ? highAvailability : []),
  ...(name === "default" ? [] : ["--values", join(here, `values-${name}.yaml`)]),
];

/** Everything is asked for in thousandths of a CPU and mebibytes. */
const requests = z.object({ requests: z.object({ cpu: z.string().endsWith("m"), memory: z.string().endsWith("Mi") }) });
const workload = z.object({
  kind: z.enum(["Deployment", "StatefulSet"]),
  spec: z.object({
    replicas: z.number(),
    template: z.looseObject({ spec: z.looseObject({ containers: z.array(z.looseObject({ resources: requests })) }) }),
  }),
});
const spread = z.object({
  kind: z.enum(["Deployment", "StatefulSet"]),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    replicas: z.number(),
    template: z.object({
      spec: z.object({
        topologySpreadConstraints: z.array(z.unknown()).default([]),
        priorityClassName: z.string().optional(),
        affinity: z.unknown().optional(),
      }),
    }),
  }),
});
const priorityClass = z.object({ kind: z.literal("PriorityClass"), metadata: z.object({ name: z.string() }), value: z.number() });
const values = z.object({
  runners: z.object({ defaultPool: z.object({ minReplicas: z.number() }), resources: requests, runnerResources: requests }),
});

suite(`the chart${missing}`, () => {
  it("passes helm lint --strict", async () => {
    const { code, stdout, stderr } = await helm(["lint", "--strict", chart]);
    expect(code, stdout + stderr).toBe(0);
  });

  it("renders what golden/default.yaml shows", async () => {
    const text = await render("--set", "crds.install=false");
    const golden = join(here, "golden", "default.yaml");
    if (process.env["HEADWATER_TEST_GOLDEN"] === "write") writeFileSync(golden, text);
    expect(text).toBe(readFileSync(golden, "utf8"));
  });

  it("keeps definitions and the owner's namespace when it is uninstalled", async () => {
    const kept = (await renderObjects()).filter(({ metadata }) => metadata.annotations?.["helm.sh/resource-policy"] === "keep");
    expect(kept.filter(({ kind }) => kind === "CustomResourceDefinition")).toHaveLength(kinds.length);
    expect(kept.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toContain("Namespace headwater-default");
  });

  it("migrates tables and streams before new code runs on an upgrade, and after the servers start on an install", async () => {
    const job = async (...flags: string[]) =>
      (await renderObjects(...flags)).find(({ kind, metadata }) => kind === "Job" && metadata.name.startsWith("headwater-setup"));
    expect((await job())?.metadata.annotations).toEqual({ "argocd.argoproj.io/sync-wave": "3" });
    expect((await job("--is-upgrade"))?.metadata.annotations?.["helm.sh/hook"]).toBe("pre-upgrade");
    const [one, other] = [await job("--set-string", "image.tag=1"), await job("--set-string", "image.tag=2")];
    expect(one?.metadata.name).not.toBe(other?.metadata.name);
  });

  it("lets the Jobs of an upgrade reach what the new values name, and takes their rights back afterwards", async () => {
    const flags = ["--is-upgrade", ...valuesFile("external"), "--set", "secrets.generate=true,postgres.existingSecret=admin"];
    const hooks = (await renderObjects(...flags)).filter(({ metadata }) => metadata.annotations?.["helm.sh/hook"] !== undefined);
    const described = hooks.map(({ kind, metadata }) => [
      Number(metadata.annotations?.["helm.sh/hook-weight"]),
      `${kind} ${metadata.name}`,
      metadata.annotations?.["helm.sh/hook-delete-policy"]?.includes("hook-succeeded"),
    ]);
    expect(described.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
      [-30, "NetworkPolicy headwater-upgrade-secrets", true],
      [-30, "NetworkPolicy headwater-upgrade-setup", true],
      [-20, "ServiceAccount headwater-upgrade-secrets", true],
      [-20, "Role headwater-upgrade-secrets", true],
      [-20, "RoleBinding headwater-upgrade-secrets", true],
      [-10, "Job headwater-upgrade-secrets", false],
      [0, "Job headwater-setup", false],
    ]);
    const policies = (await renderObjects(...flags)).filter(({ kind }) => kind === "NetworkPolicy");
    const specOf = (name: string): unknown => policies.find(({ metadata }) => metadata.name === name)?.["spec"];
    for (const role of ["setup", "secrets"]) expect(specOf(`headwater-upgrade-${role}`)).toEqual(specOf(`headwater-${role}`));
  });

  it("restarts neither NATS nor Postgres because of a new version", async () => {
    const copy = await temporaryDirectory("next-version");
    await cp(chart, copy.path, { recursive: true });
    const file = join(copy.path, "Chart.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(/^(version|appVersion): .*$/gm, "$1: 99.0.0"));
    const pods = (text: string) =>
      objectsOf(text).flatMap((object) => (object.kind === "StatefulSet" ? [workload.parse(object).spec.template] : []));
    const next = await helm(["template", "headwater", copy.path, "--namespace", "headwater"]);
    await copy.remove();
    expect(next.stdout).toContain("99.0.0");
    expect(pods(next.stdout)).toHaveLength(2);
    expect(pods(next.stdout)).toEqual(pods(await render()));
  });

  it("saves by a CronJob if it is asked to, and begins an installation, but no upgrade, with a backup", async () => {
    const text = async (...flags: string[]) => JSON.stringify(await renderObjects(...flags));
    expect(await text()).not.toContain('"kind":"CronJob"');
    const restoring = ["--set", "backup.enabled=true,backup.restore=2026-11-27T02-17-01-204Z,backup.existingClaim=mine"];
    const installed = await text(...restoring);
    expect(installed).toContain('"--backup","/backups","--keep","7"');
    expect(installed).toContain('"jobTemplate":{"spec":{"backoffLimit":3,"activeDeadlineSeconds":21600,');
    expect(installed).toContain('"--restore","/backups/2026-11-27T02-17-01-204Z"');
    expect(installed).toContain('"claimName":"mine"');
    const upgraded = await text(...restoring, "--is-upgrade");
    expect(upgraded).toContain('"--backup"');
    expect(upgraded).not.toMatch(/--restore|headwater-restore/);
  });

  it("binds the volume of backups before the first one, unless the volume is yours or a restore uses it", async () => {
    const binding = async (...flags: readonly string[]): Promise<readonly string[]> =>
      (await renderObjects(...flags)).flatMap(({ kind, metadata, spec }) =>
        kind === "Job" && metadata.name.startsWith("headwater-backup-volume") ? [JSON.stringify(spec)] : [],
      );
    expect(await binding()).toEqual([]);
    const [job, ...more] = await binding("--set", "backup.enabled=true");
    expect(job).toContain('"claimName":"headwater-backups"');
    expect(job).toContain('"automountServiceAccountToken":false');
    expect(more).toEqual([]);
    expect(await binding("--set", "backup.enabled=true,backup.existingClaim=mine")).toEqual([]);
    expect(await binding("--set", "backup.enabled=true,backup.restore=2026-11-27T02-17-01-204Z")).toEqual([]);
  });

  it("gives the backup its own Secret alone, with the user of Postgres that only reads", async () => {
    const tracing = "traces.endpoint=https://collector.example.com:4318,traces.caSecret=internal-ca";
    const objects = await renderObjects("--set", `backup.enabled=true,${tracing}`);
    const cronJob = JSON.stringify(objects.find(({ kind }) => kind === "CronJob"));
    expect(cronJob).toContain('"valueFrom":{"secretKeyRef":{"name":"headwater-backup","key":"DATABASE_URL"}}');
    expect(cronJob.match(/(?<="secretName":")[^"]+/g)).toEqual(["headwater-backup"]);
    expect(cronJob).not.toMatch(/headwater-setup|internal-ca|OTEL_/);
  });

  it("renders the same without hooks each time, for tools that compare manifests with the cluster", async () => {
    const text = await render();
    // `render` would return the same text again.
    expect((await helm(["template", "headwater", chart, "--namespace", "headwater"])).stdout).toBe(text);
    expect(text).not.toContain("helm.sh/hook");
    const templates = readdirSync(join(chart, "templates")).map((name) => readFileSync(join(chart, "templates", name), "utf8"));
    expect(templates.filter((template) => /\blookup\b|\brand(?:AlphaNum|Bytes)\b|\bgenCA\b|\bnow\b/.test(template))).toEqual([]);
    const jobs = objectsOf(text).filter(({ kind }) => kind === "Job");
    expect(jobs.map(({ metadata }) => metadata.name)).toEqual([expect.stringMatching(/^headwater-\S+-[0-9a-f]{8}$/), expect.anything()]);
    for (const { spec } of jobs) expect(spec).not.toHaveProperty("ttlSecondsAfterFinished");
  });

  it("takes the public URLs from the hosts of the Ingress", async () => {
    const hosts = "kubernetesIngress.enabled=true,kubernetesIngress.apiHost=a.example.com,kubernetesIngress.endpointsHost=in.example.com";
    const urls = async (...flags: string[]) => [
      ...new Set((await render("--set", hosts, ...flags)).match(/(?<=HEADWATER_(?:PUBLIC|INGRESS)_URL, value: ")[^"]+/g)),
    ];
    expect(await urls()).toEqual(["http://a.example.com", "http://in.example.com"]);
    const tls = ["--set", "kubernetesIngress.tlsSecret=tls,settings.publicUrl=https://b.example.com"];
    expect(await urls(...tls)).toEqual(["https://b.example.com", "https://in.example.com"]);
  });

  it("needs the Secret of Postgres' administrator only to generate Secrets", async () => {
    const generated = [...valuesFile("external"), "--set", "secrets.generate=true"];
    await expect(render(...generated)).rejects.toThrow("postgres.existingSecret is needed when postgres.enabled is false");
    expect(await render(...generated, "--set", "postgres.existingSecret=admin")).toContain("resourceNames: [admin]");
    expect((await renderObjects(...valuesFile("external"))).map(({ metadata }) => metadata.name)).toContain("headwater-api");
  });

  it.each([
    [["--set", "nats.enabled=false"], "nats.url is needed"],
    [["--set", "mail.smtpUrlSecret=smtp"], "mail.from is required with mail.smtpUrlSecret"],
    [["--set", "postgres.enabled=false"], "is needed when postgres.enabled is false"],
    [["--set", "nats.replicas=2"], "/nats/replicas"],
    [["--set", "api.replica=2"], "additional properties 'replica' not allowed"],
    [["--set-string", "settings.environment.HEADWATER_RUN_TIMEOUT=soon"], "HEADWATER_RUN_TIMEOUT"],
    [["--set", "settings.egressAllow={10.0.0.0}"], "/settings/egressAllow"],
    [["--set", "settings.trustedProxies={10.0.0.0}"], "/settings/trustedProxies"],
    [["--set", "kubernetesIngress.enabled=true"], "apiHost"],
    [["--set", "api.adminApi=true,secrets.generate=false"], "api.adminTokenSecret is needed"],
    [["--set", "nats.storeSize=10Gi"], "nats.storeSize 10Gi is invalid: it must be below nats.persistence.size, 10Gi"],
    [["--set", "nats.storeSize=1000Mi,nats.persistence.size=1G"], "nats.storeSize 1000Mi is invalid"],
    [["--set-json", "networkPolicy.kubeApiPeers=[]"], "networkPolicy.kubeApiPeers is needed"],
    [[...valuesFile("external"), "--set-json", "postgres.peers=[]"], "postgres.peers is needed"],
    [[...valuesFile("external"), "--set-json", "nats.peers=[]"], "nats.peers is needed"],
  ])("refuses %j and names the mistake", async (flags, words) => {
    await expect(render(...flags)).rejects.toThrow(words);
  });

  it.each([
    [[], undefined],
    [["--set", "settings.trustedProxies={10.0.0.0/8,fd00::/8}"], "10.0.0.0/8,fd00::/8"],
    [["--set", "settings.trustedProxies=2"], "2"],
  ])("configures the proxies to trust for the API and the ingress, and for no other role: %j", async (flags, expected) => {
    const objects = await renderObjects(...flags);
    const configured = objects.flatMap((object) => {
      const value = /"name":"HEADWATER_TRUSTED_PROXIES","value":"([^"]*)"/.exec(JSON.stringify(object))?.[1];
      return value === undefined ? [] : [[object.metadata.name, value]];
    });
    const both = [
      ["headwater-api", expected],
      ["headwater-ingress", expected],
    ];
    expect(configured.toSorted()).toEqual(expected === undefined ? [] : both);
  });

  it("enables the admin API only on request, with a token that is in no value", async () => {
    const mounted = async (...flags: string[]) => {
      const objects = await renderObjects(...flags);
      const text = (kind: string, name: string): string =>
        JSON.stringify(objects.find((object) => object.kind === kind && object.metadata.name.startsWith(name)));
      return {
        secret: /"secretName":"([^"]*admin[^"]*)"/.exec(text("Deployment", "headwater-api"))?.[1],
        makes: text("Job", "headwater-create-secrets").includes("--admin-token"),
        may: text("Role", "headwater-create-secrets").includes("headwater-admin-token"),
      };
    };
    expect(await mounted()).toEqual({ secret: undefined, makes: false, may: false });
    expect(await mounted("--set", "api.adminApi=true")).toEqual({ secret: "headwater-admin-token", makes: true, may: true });
    const own = ["--set", "api.adminApi=true,api.adminTokenSecret=own-admin"];
    expect(await mounted(...own)).toEqual({ secret: "own-admin", makes: false, may: false });
  });

  it("publishes the API without the admin API, which has a port and a Service of its own", async () => {
    const published = ["--set", "kubernetesIngress.enabled=true,kubernetesIngress.apiHost=hw.example.com"];
    const kindsOf = (texts: string, name: string): readonly string[] =>
      objectsOf(texts).flatMap(({ kind, metadata }) => (metadata.name === name ? [kind] : []));
    expect(kindsOf(await render(...published), "headwater-admin")).toEqual(["ClusterRole"]);
    const text = await render(...published, "--set", "api.adminApi=true");
    const find = (kind: string, name: string): string =>
      JSON.stringify(objectsOf(text).find((each) => each.kind === kind && each.metadata.name === name));
    expect(find("Deployment", "headwater-api")).toContain('{"name":"HEADWATER_ADMIN_LISTEN","value":"0.0.0.0:3002"}');
    expect(find("Service", "headwater-admin")).toContain('"targetPort":"admin"');
    expect(find("Service", "headwater-api")).toContain('"targetPort":"http"');
    expect(find("Ingress", "headwater")).not.toContain("headwater-admin");
    // Not from other namespaces, such as that of the ingress controller, and not from runner pods' networks.
    expect(find("NetworkPolicy", "headwater-api")).toContain('{"ports":[{"protocol":"TCP","port":"admin"}],"from":[{"podSelector":{}}]}');
  });

  it("requires the versions that docs/kubernetes.md names", async () => {
    const page = readFileSync(join(chart, "../../docs/kubernetes.md"), "utf8");
    expect(page).toContain(
      `Kubernetes ${/kubeVersion: ">=(\d+\.\d+)/.exec(readFileSync(join(chart, "Chart.yaml"), "utf8"))?.[1]} or later`,
    );
    const { cpus, gibibytes } = requested(await render());
    expect(page).toContain(`${cpus} CPUs and ${gibibytes.toFixed(1)} GiB requested`);
  });

  it("spreads pods over nodes with the values for high availability, with two pods of each role and three NATS servers", async () => {
    const objects = await renderObjects(...valuesFile("ha"));
    const pods = objects
      .flatMap((object) => spread.safeParse(object).data ?? [])
      .filter(({ metadata }) => metadata.name !== "headwater-postgres");
    expect(pods).toHaveLength(6);
    for (const { metadata, spec } of pods) {
      const [hostname, zone] = spec.template.spec.topologySpreadConstraints;
      expect(hostname).toMatchObject({
        topologyKey: "kubernetes.io/hostname",
        whenUnsatisfiable: "DoNotSchedule",
        nodeTaintsPolicy: "Honor",
      });
      expect(zone).toMatchObject({ topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" });
      expect(spec.replicas, metadata.name).toBeGreaterThanOrEqual(metadata.name === "headwater-nats" ? 3 : 2);
      expect(spec.template.spec.priorityClassName).toBe("headwater-system");
      expect(objects.some((each) => each.kind === "PodDisruptionBudget" && each.metadata.name === metadata.name)).toBe(true);
    }
    const classes = objects.flatMap((object) => priorityClass.safeParse(object).data ?? []);
    expect(classes.map(({ metadata }) => metadata.name)).toEqual(["headwater-runners", "headwater-system"]);
    expect(classes[0]?.value).toBeLessThan(classes[1]?.value ?? 0);
    expect(JSON.stringify(objects)).toContain('\\"priorityClassName\\":\\"headwater-runners\\"');
  });

  it("lets no two NATS servers share a node if spread is required, and keeps the pod's own affinity", async () => {
    const affinity = async (...flags: readonly string[]): Promise<unknown> =>
      (await renderObjects("--set", "nats.replicas=3", ...flags))
        .flatMap((object) => spread.safeParse(object).data ?? [])
        .find(({ metadata }) => metadata.name === "headwater-nats")?.spec.template.spec.affinity;
    const labels = { name: "headwater", instance: "headwater", component: "nats" };
    const matchLabels = Object.fromEntries(Object.entries(labels).map(([name, value]) => [`app.kubernetes.io/${name}`, value]));
    const apart = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels } };
    const onNodes = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference: {} }] } };
    const other = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "database" } } };
    const own = { ...onNodes, podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [other] } };
    const withOwn = ["--set-json", `nats.pod.affinity=${JSON.stringify(own)}`];

    expect(await affinity()).toBeUndefined();
    expect(await affinity(...withOwn)).toEqual(own);
    const required = ["--set", "spread=required"];
    expect(await affinity(...required)).toEqual({ podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } });
    const both = { ...onNodes, podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [other, apart] } };
    expect(await affinity(...required, ...withOwn)).toEqual(both);
    expect(await affinity(...required, "--set", "nats.replicas=1")).toBeUndefined();
  });

  it("lets a pod's own priority class win", async () => {
    const text = await render("--set", "priorityClasses.enabled=true", "--set", "api.pod.priorityClassName=mine");
    expect(
      objectsOf(text)
        .flatMap((object) => spread.safeParse(object).data ?? [])
        .find(({ metadata }) => metadata.name === "headwater-api"),
    ).toMatchObject({
      spec: { template: { spec: { priorityClassName: "mine" } } },
    });
  });

  it("describes every value", () => {
    const schema: unknown = JSON.parse(readFileSync(join(chart, "values.schema.json"), "utf8"));
    expect(undescribed(schema, "")).toEqual([]);
  });
});

/** What the pods of the defaults ask for together, the runner that the operator makes included. */
function requested(text: string): { cpus: number; gibibytes: number } {
  const pods = objectsOf(text).flatMap((object) => workload.safeParse(object).data?.spec ?? []);
  const { runners } = values.parse(parse(readFileSync(join(chart, "values.yaml"), "utf8")));
  const asked = pods.flatMap(({ replicas, template }) =>
    template.spec.containers.map(({ resources }) => ({ ...resources.requests, replicas })),
  );
  const { minReplicas: replicas } = runners.defaultPool;
  const all = [...asked, ...[runners.resources, runners.runnerResources].map(({ requests }) => ({ ...requests, replicas }))];
  const sum = (of: (each: (typeof all)[number]) => string): number =>
    all.reduce((total, each) => total + each.replicas * Number.parseInt(of(each), 10), 0);
  return { cpus: sum(({ cpu }) => cpu) / 1_000, gibibytes: sum(({ memory }) => memory) / 1_024 };
}

/** Leaves of the values without a description; maps are described by what is in them. */
function undescribed(schema: unknown, path: string): readonly string[] {
  if (typeof schema !== "object" || schema === null) return [];
  if ("description" in schema || path.endsWith(".global")) return [];
  if ("properties" in schema && typeof schema.properties === "object" && schema.properties !== null)
    return Object.entries(schema.properties).flatMap(([name, inner]) => undescribed(inner, `${path}.${name}`));
  return path === ".imagePullSecrets" ? [] : [path];
}
