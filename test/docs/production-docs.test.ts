import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { blocksOf } from "../e2e/support/documented-session.ts";
import { chart, findProgram, objectsOf, render } from "../support/helm.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

const page = "docs/production.md";
const missing = findProgram("helm") === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : "";
const yaml = blocksOf(page).filter(({ language }) => language === "yaml");
const isObject = (text: string): boolean => /^apiVersion:/m.test(text);

const documented = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
  spec: z
    .looseObject({
      secretName: z.string().optional(),
      dnsNames: z.array(z.string()).default([]),
      target: z.looseObject({ name: z.string().optional(), secret: z.object({ key: z.string() }).optional() }).optional(),
      data: z.array(z.looseObject({ secretKey: z.string() })).default([]),
    })
    .optional(),
  stringData: z.record(z.string(), z.string()).default({}),
});
const objects = yaml
  .filter(({ text }) => isObject(text))
  .flatMap(({ text }) => parseAllDocuments(text).map((document) => documented.parse(document.toJS())));
const kinds = (kind: string) => objects.filter((object) => object.kind === kind);

/** Secrets of the page by name, with their keys. */
const created = new Map<string, readonly string[]>([
  ...kinds("Certificate").map(({ spec }) => [spec?.secretName ?? "", ["tls.crt", "tls.key", "ca.crt"]] as const),
  ...kinds("ExternalSecret").map(({ spec }) => [spec?.target?.name ?? "", spec?.data.map(({ secretKey }) => secretKey) ?? []] as const),
  ...kinds("Bundle").map(({ metadata, spec }) => [metadata.name, [spec?.target?.secret?.key ?? ""]] as const),
  ...kinds("Secret").map(({ metadata, stringData }) => [metadata.name, Object.keys(stringData)] as const),
]);

/** Those that the chart's Job creates. */
const ofTheChart = /^headwater-(keys|nats|postgres|api-key|admin-token|api|ingress|delivery|builder|operator|setup|backup)$/;

describe.skipIf(missing !== "")(`docs/production.md${missing}`, () => {
  let directory: TemporaryDirectory;
  let flags: readonly string[];
  let rendered: string;
  beforeAll(async () => {
    directory = await temporaryDirectory("production");
    const values = yaml.filter(({ text }) => !isObject(text));
    expect(values).toHaveLength(1);
    const file = join(directory.path, "values.yaml");
    await writeFile(file, values.map(({ text }) => text).join("\n"));
    flags = ["--values", join(chart, "values-ha.yaml"), "--values", file];
    rendered = await render(...flags);
  });
  afterAll(() => directory.remove());

  it("has values that the chart accepts, without any plaintext", () => {
    expect(rendered).not.toContain("HEADWATER_PLAINTEXT");
    expect(rendered).toContain(`{ name: HEADWATER_NATS_CA, value: "/tls/nats/ca.crt" }`);
    expect(objectsOf(rendered).map(({ kind, metadata }) => `${kind} ${metadata.name}`)).not.toContain("StatefulSet headwater-postgres");
  });

  it("is watched and backed up", () => {
    const names = objectsOf(rendered).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names).toEqual(expect.arrayContaining(["PodMonitor headwater", "PrometheusRule headwater", "CronJob headwater-backup"]));
  });

  it("creates every Secret that its values name, with the keys that are read", () => {
    const used = secretsOf(objectsOf(rendered));
    const unknown = used.filter(
      ({ name, keys }) => !ofTheChart.test(name) && keys.some((key) => created.get(name)?.includes(key) !== true),
    );
    expect(unknown).toEqual([]);
    expect([...created.keys()].filter((name) => !rendered.includes(name))).toEqual([]);
  });

  it("has certificates for the names that the chart's settings and Ingress use", () => {
    const dnsNames = new Map(kinds("Certificate").map(({ spec }) => [spec?.secretName ?? "", spec?.dnsNames ?? []]));
    const host = (setting: string): string => new RegExp(`${setting}, value: "?[a-z]+://([^:/"]+)`).exec(rendered)?.[1] ?? "";
    expect(dnsNames.get("headwater-nats-tls")).toContain(host("NATS_URL"));
    expect(dnsNames.get("headwater-tls")).toEqual([host("HEADWATER_PUBLIC_URL"), host("HEADWATER_INGRESS_URL")]);
    const verified = /proxy-ssl-name: (\S+)/.exec(rendered)?.[1] ?? "";
    for (const role of ["api", "ingress"])
      expect(dnsNames.get(`headwater-${role}-tls`)).toEqual([`headwater-${role}.headwater.svc`, verified]);
  });

  it("names files of the chart and the ConfigMap of its values in its HelmRelease", () => {
    const release = yaml.find(({ text }) => text.includes("kind: HelmRelease"))?.text ?? "";
    const files = z
      .object({ spec: z.object({ chart: z.object({ spec: z.object({ chart: z.string(), valuesFiles: z.array(z.string()) }) }) }) })
      .parse(parse(release)).spec.chart.spec;
    for (const file of [files.chart, ...files.valuesFiles]) expect(existsSync(join(chart, "../..", file)), file).toBe(true);
  });

  it("names Deployments that the chart renders", () => {
    const names = objectsOf(rendered).map(({ kind, metadata }) => `${kind.toLowerCase()} ${metadata.name}`);
    const deployments = [...readFileSync(join(chart, "../..", page), "utf8").matchAll(/deployment (headwater-[a-z]+)/g)].map(
      ([, name]) => name,
    );
    expect(deployments.filter((name) => !names.includes(`deployment ${name}`))).toEqual([]);
  });
});

/** Values that are shown on other pages may need further ones. */
const values = blocksOf("docs/kubernetes.md").filter(({ language, text }) => language === "yaml" && isValues(text));

describe.skipIf(missing !== "")(`values in docs/kubernetes.md${missing}`, () => {
  it.each(values)("exist, in line $line", async ({ text }) => {
    const directory = await temporaryDirectory("values");
    try {
      const file = join(directory.path, "values.yaml");
      await writeFile(file, text);
      const problem = await render("--values", file).then(
        () => "",
        (error: unknown) => String(error),
      );
      expect(problem).not.toContain("specifications of the schema");
    } finally {
      await directory.remove();
    }
  });
});

/** Are all its keys values of the chart? */
function isValues(text: string): boolean {
  const known = z.record(z.string(), z.unknown()).parse(parse(readFileSync(join(chart, "values.yaml"), "utf8")));
  const content = z.record(z.string(), z.unknown()).safeParse(isObject(text) ? undefined : parse(text));
  return content.success && Object.keys(content.data).every((key) => key in known);
}

interface UsedSecret {
  readonly name: string;
  readonly keys: readonly string[];
}

/** Secrets that pods and the Ingress of these manifests refer to. */
function secretsOf(value: unknown): readonly UsedSecret[] {
  if (Array.isArray(value)) return value.flatMap(secretsOf);
  const parsed = z.record(z.string(), z.unknown()).safeParse(value);
  if (!parsed.success) return [];
  const { secret, secretKeyRef, imagePullSecrets, ...rest } = parsed.data;
  const volume = z
    .looseObject({
      name: z.string().optional(),
      secretName: z.string().optional(),
      items: z.array(z.looseObject({ key: z.string() })).default([]),
    })
    .safeParse(secret).data;
  const reference = z.looseObject({ name: z.string(), key: z.string() }).safeParse(secretKeyRef).data;
  const pulled = z.array(z.looseObject({ name: z.string() })).safeParse(imagePullSecrets).data ?? [];
  const tls = z.looseObject({ hosts: z.array(z.string()), secretName: z.string() }).safeParse(rest).data;
  const named = volume?.name ?? volume?.secretName;
  return [
    ...(named === undefined ? [] : [{ name: named, keys: keysOf(volume?.items) }]),
    ...(reference === undefined ? [] : [{ name: reference.name, keys: [reference.key] }]),
    ...pulled.map(({ name }) => ({ name, keys: [".dockerconfigjson"] })),
    ...(tls === undefined ? [] : [{ name: tls.secretName, keys: ["tls.crt"] }]),
    ...Object.values(rest).flatMap(secretsOf),
  ];
}

const keysOf = (items: readonly { readonly key: string }[] = []): readonly string[] =>
  items.length === 0 ? ["tls.crt"] : items.map(({ key }) => key);
