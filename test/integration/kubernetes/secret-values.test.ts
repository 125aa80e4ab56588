import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { SecretReference } from "../../../crds/secret-reference.ts";
import { sourceKind } from "../../../crds/source.ts";
import { createKubernetesResourceStore } from "../../../platform/kubernetes/resources/resource-store.ts";
import { createKubernetesSecretValues } from "../../../platform/kubernetes/secret-values.ts";
import { secretValuesConformance } from "../../conformance/secret-values.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { withKubernetes } from "./support.ts";

const kube = await withKubeApi();
const kubernetes = withKubernetes(kube);

async function make() {
  const namespace = await kube.namespace();
  const name = `dc-${randomBytes(4).toString("hex")}`;
  const source = { name, namespace, spec: { code: "export default {}" } as never }; // Defaults are the schema's.
  const { uid } = (await createKubernetesResourceStore(kubernetes()).create(sourceKind, source)).metadata;
  const holder = { kind: "Source", namespace, name, uid };
  return { values: createKubernetesSecretValues(kubernetes(), { rightsTimeoutMs: 500 }), holder };
}

const nameOf = (reference: SecretReference | undefined): string => reference?.secretKeyRef?.name ?? "none";
const secretOf = (namespace: string, reference: SecretReference | undefined) =>
  kube.client.request("GET", `/api/v1/namespaces/${namespace}/secrets/${nameOf(reference)}`);

kube.describe("secret values on Kubernetes", () => {
  secretValuesConformance(make);

  test("creates one Secret per call: named after the resource, with our label, immutable", async () => {
    const { values, holder } = await make();
    const { a, b } = await values.keep(holder, { a: "1", b: "2" });
    expect(nameOf(a)).toBe(nameOf(b));
    expect(nameOf(a)).toMatch(new RegExp(`^${holder.name}-[0-9a-z]{10}$`));
    const { body } = await secretOf(holder.namespace, a);
    expect(body).toMatchObject({ immutable: true, metadata: { labels: { "app.kubernetes.io/managed-by": "headwater" } } });
  });

  test("gives a settled Secret to its resource, and deletes it once the resource no longer refers to it", async () => {
    const { values, holder } = await make();
    const { token: first } = await values.keep(holder, { token: "1" });
    await values.settle({ ...holder, generation: 1 }, [first ?? {}]);
    const { body } = await secretOf(holder.namespace, first);
    expect(body).toMatchObject({ metadata: { ownerReferences: [{ kind: "Source", name: holder.name, uid: holder.uid }] } });
    const { token: second } = await values.keep(holder, { token: "2" });
    await values.settle({ ...holder, generation: 2 }, [second ?? {}]);
    expect((await secretOf(holder.namespace, first)).status).toBe(404);
    expect((await secretOf(holder.namespace, second)).status).toBe(200);
  });

  test("gives an adopted Secret to its resource, and deletes none", async () => {
    const { holder } = await make();
    const thorough = createKubernetesSecretValues(kubernetes(), { abandonedAfterMs: -2_000 });
    const { token: first } = await thorough.keep(holder, { token: "1" });
    await thorough.adopt({ ...holder, generation: 1 }, [first ?? {}]);
    const owned = { metadata: { ownerReferences: [{ kind: "Source", name: holder.name, uid: holder.uid }] } };
    expect((await secretOf(holder.namespace, first)).body).toMatchObject(owned);
    const { token: abandoned } = await thorough.keep(holder, { token: "2" });
    const { token: second } = await thorough.keep(holder, { token: "3" });
    await thorough.adopt({ ...holder, generation: 2 }, [second ?? {}]);
    for (const reference of [first, second]) expect((await secretOf(holder.namespace, reference)).body).toMatchObject(owned);
    expect((await secretOf(holder.namespace, abandoned)).body).not.toHaveProperty("metadata.ownerReferences");
  });

  test("deletes nothing when it settles references to Secrets of others", async () => {
    const { values, holder } = await make();
    const theirs = { secretKeyRef: { name: "theirs", key: "token" } };
    const path = `/api/v1/namespaces/${holder.namespace}/secrets`;
    await kube.client.create(path, { apiVersion: "v1", kind: "Secret", metadata: { name: "theirs" } });
    await values.settle({ ...holder, generation: 1 }, [theirs]);
    expect((await secretOf(holder.namespace, theirs)).body).not.toHaveProperty("metadata.ownerReferences");
  });

  test("deletes no Secret in use when it settles late or during a change", async () => {
    const { values, holder } = await make();
    const { token: first } = await values.keep(holder, { token: "1" });
    await values.settle({ ...holder, generation: 1 }, [first ?? {}]);
    const { token: second } = await values.keep(holder, { token: "2" });
    await values.settle({ ...holder, generation: 1 }, [first ?? {}]);
    expect((await secretOf(holder.namespace, second)).status).toBe(200);
    await values.settle({ ...holder, generation: 2 }, [second ?? {}]);
    await values.settle({ ...holder, generation: 1 }, [first ?? {}]);
    expect((await secretOf(holder.namespace, second)).status).toBe(200);
  });

  test("deletes Secrets of an abandoned change after a while", async () => {
    const { holder } = await make();
    const impatient = createKubernetesSecretValues(kubernetes(), { abandonedAfterMs: -2_000 });
    const { token } = await impatient.keep(holder, { token: "1" });
    await impatient.settle(holder, []);
    expect((await secretOf(holder.namespace, token)).status).toBe(404);
  });

  test("keeps foreign Secrets, copies of ours and those of other resources", async () => {
    const { values, holder } = await make();
    const { token } = await values.keep(holder, { token: "1" });
    const { body } = await secretOf(holder.namespace, token);
    const { metadata } = body as { metadata: { labels: object; annotations: object } }; // Just read from the server.
    const copy = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "copy", labels: metadata.labels, annotations: metadata.annotations, creationTimestamp: null },
    };
    await kube.client.create(`/api/v1/namespaces/${holder.namespace}/secrets`, copy);
    const neighbour = { ...holder, name: `${holder.name}-2` };
    const { token: theirs } = await values.keep(neighbour, { token: "2" });
    const thorough = createKubernetesSecretValues(kubernetes(), { abandonedAfterMs: -2_000 });
    await thorough.settle(holder, []);
    expect((await secretOf(holder.namespace, { secretKeyRef: { name: "copy", key: "token" } })).status).toBe(200);
    expect((await secretOf(holder.namespace, theirs)).status).toBe(200);
    expect((await secretOf(holder.namespace, token)).status).toBe(404);
  });

  test("distinguishes resources whose long names share the first 63 characters", async () => {
    const { holder } = await make();
    const thorough = createKubernetesSecretValues(kubernetes(), { abandonedAfterMs: -2_000 });
    const long = (end: string) => ({ ...holder, name: `${"x".repeat(62)}-${end}` });
    const { token: ours } = await thorough.keep(long("ours"), { token: "1" });
    const { token: theirs } = await thorough.keep(long("theirs"), { token: "2" });
    await thorough.settle(long("ours"), [ours ?? {}]);
    expect((await secretOf(holder.namespace, theirs)).status).toBe(200);
    await thorough.settle(long("ours"), []);
    expect((await secretOf(holder.namespace, ours)).status).toBe(404);
    expect((await secretOf(holder.namespace, theirs)).status).toBe(200);
  });

  test("reads a Secret of others only if its label allows it", async () => {
    const { values, holder } = await make();
    const reference = { secretKeyRef: { name: "theirs", key: "token" } };
    const path = `/api/v1/namespaces/${holder.namespace}/secrets`;
    const theirs = { apiVersion: "v1", kind: "Secret", metadata: { name: "theirs" }, stringData: { token: "a-secret-text" } };
    await kube.client.create(path, theirs);
    const refused = await values.read(holder, reference).catch((error: Error) => error);
    expect(refused).toMatchObject({ status: 422, message: expect.stringContaining("label it headwater.dev/may-be-referenced=true") });
    expect(JSON.stringify(refused)).not.toContain("a-secret-text");
    for (const [value, readable] of [
      ["false", false],
      ["true", true],
    ] as const) {
      const labels = { "headwater.dev/may-be-referenced": value };
      await kube.client.request("PATCH", `${path}/theirs`, { metadata: { labels } }, { "content-type": "application/merge-patch+json" });
      expect(await values.read(holder, reference).catch(() => undefined)).toBe(readable ? "a-secret-text" : undefined);
    }
  });

  test("reads what is stored for a resource for that resource alone, whatever its labels", async () => {
    const { values, holder } = await make();
    const { token = {} } = await values.keep(holder, { token: "a-secret-text" });
    const path = `/api/v1/namespaces/${holder.namespace}/secrets/${nameOf(token)}`;
    const labels = { "headwater.dev/may-be-referenced": "true" };
    await kube.client.request("PATCH", path, { metadata: { labels } }, { "content-type": "application/merge-patch+json" });
    for (const other of [
      { ...holder, name: `${holder.name}-2` },
      { ...holder, kind: "Webhook" },
    ])
      await expect(values.read(other, token)).rejects.toMatchObject({ status: 422, message: expect.stringContaining("another resource") });
    expect(await values.read(holder, token)).toBe("a-secret-text");
  });

  test("reports a refused Secret without its values", async () => {
    const { values, holder } = await make();
    const error: Error = await values.keep(holder, { token: `whsec_never_told${"x".repeat(1_100_000)}` }).then(
      () => new Error("accepted"),
      (refusal: Error) => refusal,
    );
    expect(error).toMatchObject({ status: 422, message: expect.stringContaining("1 MiB") });
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain("whsec_never_told");
  });
});
