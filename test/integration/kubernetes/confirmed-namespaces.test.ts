import { beforeAll, expect, test } from "vitest";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { startKubernetesOwnerNamespaces, type KubernetesOwnerNamespaces } from "../../../platform/kubernetes/owners/owner-namespaces.ts";
import { withMigratedPostgres } from "../../support/postgres.ts";
import { withDatabase } from "../postgres/support.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { ConfirmedNamespaces } from "../../../wiring/confirmed-namespaces.ts";
import { newOwner, whenever, withKubernetes } from "./support.ts";

const kube = await withKubeApi();
const kubernetes = withKubernetes(kube);
const postgres = withMigratedPostgres();
const databases = {
  setup: withDatabase("setup", postgres),
  api: withDatabase("api", postgres),
  operator: withDatabase("operator", postgres),
};
const label = "headwater.dev/owner";

interface Process {
  readonly owners: KubernetesOwnerNamespaces;
  readonly claims: ConfirmedNamespaces;
}

/** A process with its own view, until the test ends. */
async function within(use: (start: (role?: "operator" | "api") => Process) => Promise<void>): Promise<void> {
  await using opened = new AsyncDisposableStack();
  await use((role = "api") => {
    const owners = startKubernetesOwnerNamespaces(kubernetes(), { needsConfirmation: true });
    opened.defer(() => owners.close());
    const onError = (error: unknown): void => expect.fail(String(error));
    const claims = new ConfirmedNamespaces(databases[role], owners, { adopts: role === "operator", onError });
    opened.defer(() => claims.stop());
    return { owners, claims };
  });
}

const age = (ms: number): Promise<unknown> =>
  databases.setup.db
    .updateTable("owner_namespaces")
    .set({ confirmed_ms: Date.now() - ms })
    .where("namespace", "=", "*")
    .execute();

kube.describe("namespaces that are labelled with an owner", () => {
  let [inUse, user] = ["", ""];
  beforeAll(async () => {
    user = newOwner();
    inUse = await kube.namespace({ [label]: user });
  });

  test("count without a confirmation until the operator has adopted those in use, ten minutes after the migration", async () => {
    await within(async (start) => {
      // The database is a copy of one that may have been migrated more than ten minutes ago.
      await age(300_000);
      const [api, operator] = [start(), start("operator")];
      expect(await api.owners.find(user)).toBe(inUse);
      await operator.claims.confirm(newOwner(), "another");
      expect(await api.claims.list(user)).toEqual([{ name: inUse, confirmedAt: null, isLabelled: true, isInUse: true }]);
      await age(601_000);
      await whenever(async () => (await api.claims.list(user))[0]?.confirmedAt !== null, "the namespace in use is adopted");
      expect(await api.owners.find(user)).toBe(inUse);
    });
  });

  test("have nothing of the owner until the owner confirms them", async () => {
    await within(async (start) => {
      const [api, operator, owner, other] = [start(), start("operator"), newOwner(), newOwner()];
      const claimed = await kube.namespace({ [label]: owner });
      await whenever(async () => (await api.claims.list(owner)).length > 0, "the label is seen");
      expect(await api.claims.list(owner)).toEqual([{ name: claimed, confirmedAt: null, isLabelled: true, isInUse: false }]);
      await api.claims.confirm(other, claimed);
      expect([await api.owners.find(owner), await api.owners.ownerOf(claimed), api.owners.isOwned(claimed)]).toEqual([
        undefined,
        undefined,
        false,
      ]);
      const changes: string[] = [];
      operator.owners.onChange((namespace) => changes.push(namespace));
      await api.claims.confirm(owner, claimed);
      expect([await api.owners.find(owner), await api.owners.ensure(owner)]).toEqual([claimed, claimed]);
      await whenever(() => changes.includes(claimed), "the operator learns of it");
      expect(await operator.owners.ownerOf(claimed)).toBe(owner);
      await api.claims.withdraw(owner, claimed);
      expect(await api.owners.ownerOf(claimed)).toBeUndefined();
      await whenever(async () => (await operator.owners.ownerOf(claimed)) === undefined, "the operator learns of that too");
      await expect(api.claims.withdraw(owner, claimed)).rejects.toMatchObject({ status: 404 });
    });
  });

  test("are confirmed where the API creates them, once for all its processes", async () => {
    await within(async (start) => {
      const [one, two, owner] = [start(), start(), newOwner()];
      const name = namespaceOfOwner(owner);
      expect(await Promise.all([one, two, one, two].map(({ owners }) => owners.ensure(owner)))).toEqual([name, name, name, name]);
      expect(await two.claims.list(owner)).toMatchObject([{ name, isLabelled: true, isInUse: true }]);
    });
  });

  test("are not used where others have created them under the name that the API gives", async () => {
    await within(async (start) => {
      const [api, owner] = [start(), newOwner()];
      const name = namespaceOfOwner(owner);
      await kube.client.create("/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name, labels: { [label]: owner, "app.kubernetes.io/managed-by": "headwater" } },
      });
      await expect(api.owners.ensure(owner)).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining(`${owner} has not confirmed it`),
      });
      expect(await api.owners.find(owner)).toBeUndefined();
    });
  });

  test("may be confirmed in advance, at most twenty of an owner", async () => {
    await within(async (start) => {
      const [{ claims, owners }, owner] = [start(), newOwner()];
      for (let n = 1; n <= 20; n++) await claims.confirm(owner, `early-${n}`);
      await claims.confirm(owner, "early-20");
      await expect(claims.confirm(owner, "early-21")).rejects.toMatchObject({ status: 409, message: expect.stringContaining("20") });
      await kube.client.create("/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: "early-3", labels: { [label]: owner } },
      });
      await whenever(async () => (await owners.find(owner)) === "early-3", "it is in use at once");
    });
  });
});
