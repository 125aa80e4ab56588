import { expect, it } from "vitest";
import { z } from "zod";
import { kinds } from "../../crds/kinds.ts";
import { apiVersion, type Kind } from "../../crds/resource.ts";
import { fieldsOf } from "../../scripts/generate/fields.ts";
import { rootSchema } from "../../scripts/generate/definition.ts";
import type { Structural } from "../../scripts/generate/structural.ts";
import { changes, examples, titleOf, type Example } from "../crds/objects.ts";
import { withKubeApi } from "../support/kube/kube-api.ts";
import { messageOf, type KubeAnswer } from "../support/kube/kube-api-client.ts";

/** The generated definitions on a real API server: which objects it refuses, which defaults it sets, what kubectl shows. */
const kube = await withKubeApi();

const root = `/apis/${apiVersion}`;
const pathOf = ({ scope, plural }: Kind, namespace: string): string =>
  scope === "Cluster" ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;

let count = 0;
/** Unique among all tests that share the server. */
const freshName = (): string => `crds-${process.pid}-${count++}`;

function create(kind: Kind, namespace: string, resource: { name?: string; spec: unknown }, query = ""): Promise<KubeAnswer> {
  const { name = freshName(), spec } = resource;
  return kube.client.request("POST", `${pathOf(kind, namespace)}${query}`, { apiVersion, kind: kind.kind, metadata: { name }, spec });
}

const specOf = ({ body }: KubeAnswer): unknown => z.object({ spec: z.unknown() }).parse(body).spec;
const kindOf = (name: string): Kind => {
  const found = kinds.find(({ kind }) => kind === name);
  if (found === undefined) throw new Error(`no kind ${name}`);
  return found;
};

kube.describe("the API server", () => {
  const dryRun = "?dryRun=All&fieldValidation=Strict";
  const titled = (wanted: boolean): (readonly [string, Example])[] =>
    examples.filter(({ refused }) => (refused === undefined) === wanted).map((example) => [titleOf(example), example]);

  it.each(titled(true))("accepts %s and sets the schema's defaults", async (_title, { kind, ...resource }) => {
    const answer = await create(kind, "default", resource, dryRun);
    expect(answer.status === 201 ? "" : messageOf(answer)).toBe("");
    expect(specOf(answer)).toEqual(kind.spec.parse(resource.spec));
  });

  it.each(titled(false))("refuses %s", async (_title, { kind, refused, ...resource }) => {
    const answer = await create(kind, "default", resource, dryRun);
    expect(answer.status).toBe(422);
    expect(messageOf(answer)).toContain(typeof refused === "string" ? refused : refused?.[0]);
  });

  it.each(changes.map((change) => [`${titleOf({ ...change, spec: change.before })} to ${JSON.stringify(change.after)}`, change] as const))(
    "judges a change of %s",
    async (_title, { kind, before, after, refused }) => {
      const name = freshName();
      const created = await create(kind, "default", { name, spec: before });
      expect(created.status).toBe(201);
      const { metadata } = z.object({ metadata: z.unknown() }).parse(created.body);
      const path = `${pathOf(kind, "default")}/${name}`;
      const answer = await kube.client.request("PUT", path, { apiVersion, kind: kind.kind, metadata, spec: after });
      if (refused === undefined) expect(answer.status).toBe(200);
      else expect(messageOf(answer)).toContain(refused);
      await kube.client.request("DELETE", path);
    },
  );

  it.each(kinds.map((kind) => [kind.kind, kind] as const))("refuses a name with a dot for %s", async (_name, kind) => {
    const spec = examples.find((example) => example.kind === kind && example.refused === undefined)?.spec;
    const answer = await create(kind, "default", { name: "a.b", spec }, dryRun);
    expect(messageOf(answer)).toContain("a name has at most 63 lower-case letters, digits and dashes");
  });

  it("keeps null within props", async () => {
    const spec = { componentRef: { name: "a" }, props: { nothing: null, list: [null, { deep: null }] } };
    const answer = await create(kindOf("Source"), "default", { spec }, dryRun);
    expect(specOf(answer)).toMatchObject(spec);
  });

  it("prunes unknown fields, and refuses them under strict validation", async () => {
    const resource = { spec: { componentRef: { name: "a" }, componentref: { name: "b" } } };
    const pruned = await create(kindOf("Source"), "default", resource, "?dryRun=All&fieldValidation=Warn");
    expect(specOf(pruned)).not.toHaveProperty("componentref");
    expect(pruned.warnings.join()).toContain('unknown field \\"spec.componentref\\"');
    expect(messageOf(await create(kindOf("Source"), "default", resource, dryRun))).toContain('unknown field "spec.componentref"');
  });
});

kube.describe("a status", () => {
  const condition = {
    type: "Ready",
    status: "True",
    reason: "Deployed",
    message: "It runs.",
    lastTransitionTime: "2026-01-01T00:00:00.123Z",
    observedGeneration: 1,
  };

  it("is written apart from the spec, with any component definition", async () => {
    const component = kindOf("Component");
    const name = freshName();
    const namespace = await kube.namespace();
    await create(component, namespace, { name, spec: { code: "export default {}" } });
    const build = {
      codeHash: "a",
      bundle: "b",
      bundleBytes: 3,
      needsNode: false,
      lockfile: null,
      definition: { name: "A", type: "source", props: [{ name: "x", type: "any", default: null, options: [1, "b"] }], hooks: [] },
    };
    const path = `${pathOf(component, namespace)}/${name}`;
    const status = { id: "sc_1", observedGeneration: 1, conditions: [condition], build, updatedAt: 1_760_000_000_000 };
    const answer = await kube.client.request("PATCH", `${path}/status`, { status }, { "content-type": "application/merge-patch+json" });
    // A merge patch deletes fields with null; the whole status is written by PUT.
    expect(answer.status).toBe(200);
    const { metadata, spec } = z.object({ metadata: z.looseObject({}), spec: z.unknown() }).parse(answer.body);
    const put = await kube.client.request("PUT", `${path}/status`, {
      apiVersion,
      kind: "Component",
      metadata,
      spec: { code: "other" },
      status,
    });
    expect(put.body).toMatchObject({ spec, status, metadata: { generation: 1 } });
  });

  it("is shown by `kubectl get`, and found by field and by short name", async () => {
    const namespace = await kube.namespace();
    const source = kindOf("Source");
    const path = `${pathOf(source, namespace)}/feed`;
    await create(source, namespace, { name: "feed", spec: { componentRef: { name: "feed-code" } } });
    await create(source, namespace, { name: "other", spec: { url: "https://example.com", active: false } });
    const status = { id: "dc_1", component: "feed-code", endpoint: "http://localhost:3001/x", conditions: [condition] };
    await kube.client.request("PATCH", `${path}/status`, { status }, { "content-type": "application/merge-patch+json" });

    const { shown, rows } = await tableOf(source, namespace);
    expect(shown).toEqual(["Name", "Ready", "Reason", "Component", "Endpoint", "Age"]);
    expect(rows[0]?.cells.slice(0, 5)).toEqual(["feed", "True", "Deployed", "feed-code", "http://localhost:3001/x"]);

    const names = async (selector: string): Promise<unknown> => {
      const answer = await kube.client.request("GET", `${pathOf(source, namespace)}?fieldSelector=${encodeURIComponent(selector)}`);
      return z
        .object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) })
        .parse(answer.body)
        .items.map(({ metadata }) => metadata.name);
    };
    expect(await names("status.id=dc_1")).toEqual(["feed"]);
    expect(await names("spec.active=false")).toEqual(["other"]);
    expect(await names("spec.componentRef.name=feed-code")).toEqual(["feed"]);
  });

  it("shows which accounts must be connected again", async () => {
    const namespace = await kube.namespace();
    const account = kindOf("Account");
    for (const name of ["valid", "refused"]) await create(account, namespace, { name, spec: { app: "shop", credentials: {} } });
    const path = `${pathOf(account, namespace)}/refused/status`;
    await kube.client.request("PATCH", path, { status: { needsReconnect: true } }, { "content-type": "application/merge-patch+json" });
    const { shown, rows } = await tableOf(account, namespace);
    const [name, needed] = [shown.indexOf("Name"), shown.indexOf("Needs reconnect")];
    expect(rows.map(({ cells }) => [cells[name], String(cells[needed])]).toSorted()).toEqual([
      ["refused", "true"],
      ["valid", expect.not.stringContaining("true")],
    ]);
  });

  /** What `kubectl get` prints without `-o wide`. */
  async function tableOf(kind: ReturnType<typeof kindOf>, namespace: string) {
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const { body } = await kube.client.request("GET", pathOf(kind, namespace), undefined, { accept });
    const { columnDefinitions, rows } = tableSchema.parse(body);
    return { shown: columnDefinitions.filter(({ priority }) => priority === 0).map(({ name }) => name), rows };
  }

  const tableSchema = z.object({
    columnDefinitions: z.array(z.object({ name: z.string(), priority: z.number() })),
    rows: z.array(z.object({ cells: z.array(z.unknown()) })),
  });
});

kube.describe("what kubectl relies on", () => {
  it("finds each kind by its short name, and all by the category", async () => {
    const { body } = await kube.client.request("GET", root);
    const { resources } = z.object({ resources: z.array(z.looseObject({ name: z.string() })) }).parse(body);
    for (const { kind, plural, shortNames, scope } of kinds)
      expect(resources.find(({ name }) => name === plural)).toMatchObject({
        kind,
        shortNames,
        categories: ["headwater"],
        namespaced: scope !== "Cluster",
      });
  });

  it("scales a pool", async () => {
    const pool = kindOf("RunnerPool");
    const name = freshName();
    const path = `${pathOf(pool, "")}/${name}`;
    await create(pool, "", { name, spec: {} });
    await kube.client.request(
      "PATCH",
      `${path}/status`,
      { status: { replicas: 1, selector: "a=b" } },
      { "content-type": "application/merge-patch+json" },
    );
    const scale = await kube.client.request(
      "PATCH",
      `${path}/scale`,
      { spec: { replicas: 3 } },
      { "content-type": "application/merge-patch+json" },
    );
    expect(scale.body).toMatchObject({ kind: "Scale", spec: { replicas: 3 }, status: { replicas: 1, selector: "a=b" } });
    expect(specOf(await kube.client.request("GET", path))).toMatchObject({ replicas: 3 });
    await kube.client.request("DELETE", path);
  });

  it("prunes nothing of an object that is applied server-side", async () => {
    const namespace = await kube.namespace();
    const spec = { code: "x".repeat(900_000), props: { a: [1] } };
    const applied = await kube.client.request(
      "PATCH",
      `${pathOf(kindOf("Source"), namespace)}/feed?fieldManager=test&fieldValidation=Warn`,
      { apiVersion, kind: "Source", metadata: { name: "feed", namespace }, spec },
      { "content-type": "application/apply-patch+yaml" },
    );
    expect(applied.status === 201 ? "" : messageOf(applied)).toBe("");
    expect(applied.warnings).toEqual([]);
    expect(specOf(applied)).toMatchObject(spec);
  });
});

kube.describe("what kubectl explains", () => {
  it.each(kinds.map((kind) => [kind.kind, kind] as const))("has a description of every field of %s", async (_name, kind) => {
    const schema = await explained(kind);
    expect(schema.description).toBe(rootSchema(kind).description);
    const fields = ["spec", "status"].flatMap((part) => fieldsOf(schema.properties?.[part] ?? {}, part));
    expect(fields.length).toBeGreaterThan(6);
    expect(fields.filter(({ description }) => description === "")).toEqual([]);
  });

  it("is the schema's description of a field", async () => {
    const { spec = {} } = (await explained(kindOf("Source"))).properties ?? {};
    expect(spec.properties?.["props"]?.description).toContain("Values of the component's props by name, each any JSON of at most 64 KiB.");
  });

  async function explained(kind: Kind): Promise<Structural> {
    const { body } = await kube.client.request("GET", `/openapi/v3/apis/${apiVersion}`);
    const { components } = z.object({ components: z.object({ schemas: z.record(z.string(), published) }) }).parse(body);
    return Object.entries(components.schemas).find(([id]) => id.endsWith(`.${kind.kind}`))?.[1] ?? {};
  }

  const published: z.ZodType<Structural> = z.looseObject({});
});
