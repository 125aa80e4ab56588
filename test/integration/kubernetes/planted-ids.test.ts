import { afterAll, beforeAll, expect, test } from "vitest";
import { labels } from "../../../crds/resource.ts";
import { webhookKind } from "../../../crds/webhook.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { until } from "../api/support.ts";
import { openDoors, type Doors } from "./mirror-support.ts";

/** A tenant who may write resources in her namespace labels them with ids of others. No admission policy is installed here. */
const kube = await withKubeApi({ own: true });
const postgres = withMigratedPostgres();
let doors: Doors;
const spec = { url: "https://example.com/", active: true, signingKeys: [] };

kube.describe("a resource with the id of another as label", () => {
  beforeAll(async () => {
    doors = await openDoors(kube.kubeconfigPath, postgres);
  });
  afterAll(() => doors?.stop());

  test.each(["reading the mirror", "reading the cluster"])(
    "gives its owner nothing of the other, although it is older (%s)",
    async (how) => {
      const { cluster, namespace } = doors;
      const id = how === "reading the mirror" ? "wh_mirrored" : "wh_clustered";
      const name = id.replace("_", "-");
      const theirs = `theirs-${name}`;
      await kube.client.create("/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: theirs, labels: { [labels.owner]: `u_${name.replace("wh-", "")}` } },
      });
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
