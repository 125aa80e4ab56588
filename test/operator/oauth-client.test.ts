import { expect, it } from "vitest";
import { appKind } from "../../crds/app.ts";
import { oauthClientKind } from "../../crds/oauth-client.ts";
import { labels } from "../../crds/resource.ts";
import { systemClock } from "../../domain/clock.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { appReconciler } from "../../operator/app/reconciler.ts";
import { oauthClientReconciler } from "../../operator/oauth-client/reconciler.ts";
import type { OperatorPorts } from "../../operator/ports.ts";
import { MemoryStore } from "./memory-store.ts";

const clientSecret = { secretKeyRef: { name: "keys", key: "secret" } };

function world({ owner = "u_ada", read = async () => "secret" }: { owner?: string | undefined; read?: () => Promise<string> } = {}) {
  const store = new MemoryStore();
  const settled: unknown[] = [];
  const ports = {
    store,
    owners: { ownerOf: async () => (owner === "" ? undefined : owner) },
    secretValues: { read, settle: async (_holder: object, references: readonly unknown[]) => void settled.push(...references) },
    clock: systemClock,
    random: () => 0.5,
    newId: (kind: string) => `${kind === "app" ? "app" : "oac"}_new`,
    claimId: async () => true,
  } as unknown as OperatorPorts; // The ports that the reconcilers use.
  return { store, ports, settled };
}

it.each([
  ["that can be read", async () => "secret", "Registered", "True"],
  ["that is missing", () => Promise.reject(new NotFound("no such Secret")), "SecretNotFound", "False"],
  ["that may not be referred to", () => Promise.reject(new InvalidInput("no label")), "SecretInvalid", "False"],
])("reports a client with a secret %s", async (_what, read, reason, status) => {
  const { store, ports, settled } = world({ read });
  await store.create(oauthClientKind, { namespace: "ada", name: "slack", spec: { app: "slack", clientId: "c", clientSecret } });
  await oauthClientReconciler(ports)("ada/slack");
  const client = await store.get(oauthClientKind, "ada", "slack");
  expect(client.status).toMatchObject({ id: "oac_new", conditions: [expect.objectContaining({ type: "Ready", reason, status }), {}, {}] });
  expect(client.metadata.labels).toMatchObject({ [labels.app]: "slack", [labels.id]: "oac_new" });
  expect(settled).toEqual([clientSecret]);
});

it.each([
  ["u_ada", "Defined"],
  ["", "NamespaceHasNoOwner"],
])("reports an app in a namespace of owner '%s' as %s", async (owner, reason) => {
  const { store, ports } = world({ owner });
  await store.create(appKind, { namespace: "ada", name: "acme", spec: { slug: "acme", name: "Acme", auth: "none", categories: [] } });
  await appReconciler(ports)("ada/acme");
  expect((await store.get(appKind, "ada", "acme")).status).toMatchObject({
    id: "app_new",
    conditions: [expect.objectContaining({ reason }), {}, {}],
  });
});
