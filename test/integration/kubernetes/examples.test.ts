import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { createEgress } from "../../../platform/http/egress.ts";
import { kinds } from "../../../crds/kinds.ts";
import { apiVersion } from "../../../crds/resource.ts";
import { checkConfiguredProps } from "../../../domain/component/prop-values.ts";
import { parseTimer } from "../../../domain/schedule/schedule.ts";
import { createSandbox } from "../../../runner/sandbox/pool.ts";
import { messageOf } from "../../support/kube/kube-api-client.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { openBuilder } from "../builder/support.ts";

/** docs/examples/kubernetes: each example is accepted, builds, and has the required props. */
const folder = join(import.meta.dirname, "..", "..", "..", "docs", "examples", "kubernetes");
const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml"));
const kube = await withKubeApi();

const values = z.record(z.string(), z.unknown());
const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  data: z.record(z.string(), z.string()).optional(),
  spec: z
    .looseObject({
      code: z.string().optional(),
      codeFrom: z.object({ configMapKeyRef: z.object({ name: z.string(), key: z.string() }) }).optional(),
      componentRef: z.object({ name: z.string() }).optional(),
      props: values.optional(),
      secrets: values.optional(),
    })
    .optional(),
});
type Manifest = z.infer<typeof manifest>;

async function read(file: string): Promise<readonly Manifest[]> {
  return parseAllDocuments(await readFile(join(folder, file), "utf8")).map((document) => manifest.parse(document.toJS()));
}

function pathOf({ apiVersion: version, kind }: Manifest, namespace: string): string {
  if (version === "v1") return `/api/v1/namespaces/${namespace}/${kind.toLowerCase()}s`;
  const found = kinds.find((one) => one.kind === kind);
  if (version !== apiVersion || found === undefined) throw new Error(`${version} ${kind} is no kind of ours`);
  return `/apis/${version}/${found.scope === "Cluster" ? "" : `namespaces/${namespace}/`}${found.plural}`;
}

kube.describe("the API server", () => {
  it.each(files)("accepts %s", async (file) => {
    const namespace = await kube.namespace();
    for (const resource of await read(file)) {
      const answer = await kube.client.request("POST", `${pathOf(resource, namespace)}?fieldValidation=Strict&dryRun=All`, resource);
      expect(answer.status === 201 ? "" : messageOf(answer)).toBe("");
      expect(answer.warnings).toEqual([]);
    }
  });
});

/** The code that a source runs, from the same file. */
function codeOf({ spec }: Manifest, all: readonly Manifest[]): string | undefined {
  const { code, codeFrom, componentRef } = spec ?? {};
  const named = (kind: string, name: string): Manifest | undefined => all.find((one) => one.kind === kind && one.metadata.name === name);
  if (codeFrom !== undefined) return named("ConfigMap", codeFrom.configMapKeyRef.name)?.data?.[codeFrom.configMapKeyRef.key];
  return componentRef === undefined ? code : named("Component", componentRef.name)?.spec?.code;
}

describe("the sources of the examples", () => {
  it("build, and set the props that their components require", async () => {
    const directory = await temporaryDirectory("examples");
    const bundleDirectory = join(directory.path, "bundles");
    await mkdir(bundleDirectory);
    const sandbox = await createSandbox({
      cacheDirectory: join(directory.path, "cache"),
      bundleDirectory,
      children: 1,
      egress: createEgress({ allow: [] }),
    });
    onTestFinished(() => sandbox.stop(AbortSignal.timeout(1_000)));
    const { builder } = await openBuilder({ directory: directory.path, inspector: sandbox });
    let count = 0;
    for (const file of files) {
      const all = await read(file);
      for (const source of all.filter(({ kind }) => kind === "Source")) {
        const code = codeOf(source, all);
        const { definition } = await builder.build({ code: code ?? "" });
        expect(definition).toMatchObject({ type: "source", version: "1.0.0", description: expect.any(String) });
        const secrets = source.spec?.secrets ?? {};
        const sealed = Object.fromEntries(Object.keys(secrets).map((name) => [name, "sealed"]));
        checkConfiguredProps(definition, { ...source.spec?.props, ...sealed }, new Set(Object.keys(secrets)));
        for (const { name, type } of definition.props)
          if (type === "$.interface.timer") expect(parseTimer(source.spec?.props?.[name] ?? { intervalSeconds: 60 })).toBeDefined();
        count++;
      }
    }
    expect(count).toBe(7);
  });
});
