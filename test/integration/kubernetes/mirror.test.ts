import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { labels } from "../../../crds/resource.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { seeded } from "../../support/random.ts";
import { until } from "../../support/until.ts";
import { whenever } from "./support.ts";
import { openDoors, unreliable, type Doors } from "./mirror-support.ts";

const kube = await withKubeApi();
const postgres = withMigratedPostgres();
let doors: Doors;

beforeAll(async () => {
  if (kube.missing === undefined) doors = await openDoors(kube, postgres);
});
afterAll(() => doors?.stop());

kube.describe("lists and the cluster", () => {
  test("lists show resources created or deleted through REST at once, without an operator", async () => {
    const { body } = await doors.ask("POST", "/webhooks?url=https://x.test&name=first");
    const { id } = dataOf<{ id: string }>(body);
    const listed = async (kind: string) => dataOf<{ id: string; name?: string }[]>((await doors.ask("GET", `/users/me/${kind}`)).body);
    expect(await listed("webhooks")).toMatchObject([{ id, name: "first" }]);
    const source = dataOf<{ id: string }>((await doors.ask("POST", "/sources", { component_code: "name: Here" })).body);
    expect(await listed("sources")).toEqual([expect.objectContaining({ id: source.id, name: "here" })]);
    await doors.ask("PUT", `/sources/${source.id}`, { name: "There" });
    expect(await listed("sources")).toEqual([expect.objectContaining({ name: "There" })]);
    expect((await doors.ask("DELETE", `/sources/${source.id}`)).status).toBe(204);
    expect((await doors.ask("DELETE", `/webhooks/${id}`)).status).toBe(204);
    expect([await listed("sources"), await listed("webhooks")]).toEqual([[], []]);
  });

  /**
   * Method: random changes through REST and, as kubectl makes them, directly, while mirroring operators are killed and others
   * start, and the table is slow or unreachable for them. In the end both hold the same specs, statuses, labels and versions.
   */
  test.each([1, 2, 3, 4])("are equal after changes through REST and kubectl (seed %i)", async (seed) => {
    const random = seeded(seed);
    const database = unreliable(doors.rows, random);
    let mirroring = await doors.startMirroring(database.rows);
    for (let step = 0; step < 40; step++) {
      if (random() < 0.12) {
        mirroring.kill();
        if (random() < 0.5) for (let n = 0; n < 4; n++) await change(random);
        mirroring = await doors.startMirroring(database.rows);
      }
      await change(random);
    }
    database.heal();
    // It may be waiting 10 s to try again. The comparison reports differences.
    const same = async (): Promise<boolean> => isDeepStrictEqual(await doors.inMirror(), await doors.inCluster());
    await whenever(async () => mirroring.mirror.pending === 0 && (await same()), "both are equal").catch(() => undefined);
    expect(await doors.inMirror()).toEqual(await doors.inCluster());
    expect(mirroring.mirror.lagSeconds).toBe(0);
    mirroring.kill();
  });

  test("the mirror drops rows of a former cluster", async () => {
    const [resource] = await doors.inCluster();
    if (resource === undefined) throw new Error("the changes above left nothing");
    const ofAnother = { ...resource, metadata: { ...resource.metadata, name: "of-another", resourceVersion: "900000000000" } };
    await doors.rows.write([ofAnother], []);
    const mirroring = await doors.startMirroring();
    await whenever(async () => isDeepStrictEqual(await doors.inMirror(), await doors.inCluster()), "the row is gone");
    mirroring.kill();
  });
});

/** A tenant who may write resources in her namespace labels them with ids of others. No admission policy is installed here. */
kube.describe("a resource with the id of another as label", () => {
  const spec = { url: "https://example.com/", active: true, signingKeys: [] };
  test.each(["reading the mirror", "reading the cluster"])(
    "gives its owner nothing of the other, although it is older (%s)",
    async (how) => {
      const { cluster, namespace } = doors;
      const id = how === "reading the mirror" ? "wh_mirrored" : "wh_clustered";
      const name = id.replace("_", "-");
      const theirs = await kube.namespace({ [labels.owner]: `u_${name.replace("wh-", "")}` });
      // It has no id of its own, as when no operator runs.
      const planted = await cluster.create(webhookKind, { namespace, name, spec });
      const victim = await cluster.create(webhookKind, { namespace: theirs, name, spec, labels: { [labels.id]: id } });
      await cluster.updateStatus(webhookKind, { ...victim, status: { id } });
      await cluster.update(webhookKind, { ...planted, metadata: { ...planted.metadata, labels: { [labels.id]: id } } });
      const mirroring = how === "reading the mirror" ? await doors.startMirroring() : undefined;
      if (mirroring !== undefined) await until(() => mirroring.mirror.pending === 0 && mirroring.mirror.lagSeconds === 0);
      for (const [method, path, body] of [
        ["GET", `/webhooks/${id}`, undefined],
        ["PUT", `/webhooks/${id}`, { active: false }],
        ["GET", `/webhooks/${id}/deliveries`, undefined],
        ["DELETE", `/webhooks/${id}`, undefined],
      ] as const)
        expect([method, path, (await doors.ask(method, path, body)).status]).toEqual([method, path, 404]);
      expect((await cluster.get(webhookKind, theirs, name)).spec.active).toBe(true);
      expect((await cluster.get(webhookKind, namespace, name)).metadata.deletionTimestamp).toBeUndefined();
      mirroring?.kill();
    },
  );
});

const names = ["a", "b", "c"] as const;

/** One change through REST or kubectl; a refusal (name taken, not found) is fine. */
async function change(random: () => number): Promise<void> {
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const name = pick(names) ?? "a";
  const [kind, spec] = pick([
    ["sources", { code: `name: ${name}` }],
    ["webhooks", { url: "https://x.test" }],
    ["subscriptions", { emitter: "dc_*", listenerRef: { kind: "Webhook", name } }],
  ] as const) ?? ["webhooks", {}];
  const path = `/apis/headwater.dev/v1alpha1/namespaces/${doors.namespace}/${kind}`;
  const merge = { "content-type": "application/merge-patch+json" };
  const idOf = async (list: string): Promise<string> =>
    pick(dataOf<{ id: string }[]>((await doors.ask("GET", `/users/me/${list}?limit=100`)).body))?.id ?? "none";
  const changes: (() => Promise<unknown>)[] = [
    () => kube.client.request("POST", path, { ...ofKind(kind), metadata: { name, finalizers: finalizersOf(kind) }, spec }),
    () => kube.client.request("PATCH", `${path}/${name}`, { metadata: { labels: { tier: `t${Math.floor(random() * 9)}` } } }, merge),
    () =>
      kube.client.request(
        "PATCH",
        `${path}/${name}`,
        { spec: kind === "subscriptions" ? { channel: "$errors" } : { name: `n${Math.floor(random() * 9)}` } },
        merge,
      ),
    () => kube.client.request("PATCH", `${path}/${name}/status`, { status: { id: `x_${name}` } }, merge),
    () => kube.client.request("DELETE", `${path}/${name}`),
    () => doors.ask("POST", "/sources", { component_code: `name: ${name}`, name }),
    async () => doors.ask("PUT", `/sources/${await idOf("sources")}`, { name: `r${Math.floor(random() * 9)}` }),
    async () => doors.ask("DELETE", `/sources/${await idOf("sources")}`),
    () => doors.ask("POST", `/webhooks?url=https://x.test/${name}`),
    async () => doors.ask("DELETE", `/webhooks/${await idOf("webhooks")}`),
    async () => doors.ask("POST", `/subscriptions?emitter_id=dc_*&listener_id=${await idOf("webhooks")}`),
    async () => doors.ask("DELETE", `/subscriptions?emitter_id=dc_*&listener_id=${await idOf("webhooks")}`),
  ];
  await pick(changes)?.();
}

const kinds = { sources: "Source", webhooks: "Webhook", subscriptions: "Subscription" } as const;
const ofKind = (plural: keyof typeof kinds) => ({ apiVersion: "headwater.dev/v1alpha1", kind: kinds[plural] });
/** Webhooks are deleted at once, other kinds when their operator removes the finalizer. */
const finalizersOf = (plural: keyof typeof kinds): readonly string[] => (plural === "webhooks" ? [] : ["headwater.dev/cleanup"]);

function dataOf<T>(body: unknown): T {
  return (body as { data: T }).data; // The API's envelope; each test knows its type.
}
