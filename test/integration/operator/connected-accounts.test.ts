import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { accountKind, type AccountResource } from "../../../crds/account.ts";
import { appKind } from "../../../crds/app.ts";
import { oauthClientKind } from "../../../crds/oauth-client.ts";
import { labels } from "../../../crds/resource.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { revokeAccount } from "../../../operator/account/connect.ts";
import type { RevocationRequest } from "../../../operator/oauth-ports.ts";
import { accountReconciler } from "../../../operator/account/reconciler.ts";
import { startOperator } from "../../../operator/start.ts";
import { until } from "../../support/until.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import { OauthProvider, registered } from "../../support/oauth-provider.ts";
import { owner, withOperatorWorld } from "./world.ts";

/** Accounts that were connected by an OAuth client: refreshed with the client's secret, at the endpoint of the client's app alone. */
const world = withOperatorWorld({ egressAllow: ["127.0.0.0/8"] });
const namespace = namespaceOfOwner(owner);
const provider = new OauthProvider();
let [now, count] = [Date.parse("2026-11-21T12:00:00Z"), 0];

beforeAll(async () => void (await provider.start()));
afterAll(() => provider.stop());
beforeEach(() => {
  provider.quirks = { rotates: true };
  provider.tokenRequests.length = 0;
});

const sealed = async (text: string) => ({ sealed: await world.ports.secrets.seal(text) });
const operator = () => {
  const reconcile = accountReconciler({ ...world.ports, clock: { now: () => now }, random: () => 0 });
  return (account: AccountResource) => reconcile(keyOf(account));
};
const accountNow = ({ metadata }: AccountResource) => world.ports.store.get(accountKind, metadata.namespace, metadata.name);
const readyOf = async (account: AccountResource) => (await accountNow(account)).status.conditions?.find(({ type }) => type === "Ready");

async function connected(clientNamespace = namespace, tokenUrl = `${provider.origin}/token`) {
  const number = ++count;
  const [app, id] = [`service-${number}`, `oac_client${number}`];
  const oauth = { authorizationUrl: `${provider.origin}/authorize`, tokenUrl: `${provider.origin}/token` };
  const made = { namespace: clientNamespace, name: app };
  await world.ports.store.create(appKind, { ...made, spec: { slug: app, name: app, auth: "oauth2", categories: [], oauth } });
  const clientSecret = await sealed(registered.clientSecret);
  await world.ports.store.create(oauthClientKind, {
    ...made,
    labels: { [labels.id]: id },
    spec: { app, clientId: registered.clientId, clientSecret, origins: [provider.origin] },
  });
  provider.refreshToken = `refresh-of-${number}`;
  const account = await world.ports.store.create(accountKind, {
    namespace,
    name: `apn-connected${number}`,
    spec: {
      app,
      credentials: {},
      oauth: { tokenUrl, clientId: registered.clientId, refreshToken: await sealed(provider.refreshToken) },
      connection: { client: id, connectedAt: "2026-11-21T12:00:00Z" },
    },
  });
  return { account, app, id };
}

describe("a connected account", () => {
  it("is refreshed with the secret of its client", async () => {
    const { account } = await connected();
    await operator()(account);
    expect(await readyOf(account)).toMatchObject({ status: "True" });
    expect(provider.tokenRequests).toHaveLength(1);
  });

  it("sends the client's secret to no other address, whatever the account says", async () => {
    const { account } = await connected(namespace, `${provider.origin}/elsewhere`);
    await operator()(account);
    expect(await readyOf(account)).toMatchObject({ reason: "NeedsReconnect", message: expect.stringContaining("token endpoint") });
    expect((await accountNow(account)).status.needsReconnect).toBe(true);
    expect(provider.tokenRequests).toEqual([]);
  });

  it.each(["tokenUrl", "refreshUrl", "revocationUrl"])(
    "sends nothing when the app got another %s after the secret was given",
    async (field) => {
      const { account, app } = await connected();
      const before = await world.ports.store.get(appKind, namespace, app);
      const { oauth } = before.spec;
      if (oauth === undefined) throw new Error("it has oauth");
      await world.ports.store.update(appKind, {
        ...before,
        spec: { ...before.spec, oauth: { ...oauth, [field]: "http://127.0.0.1:9/new" } },
      });
      await operator()(account);
      expect(await readyOf(account)).toMatchObject({ reason: "NeedsReconnect", message: expect.stringContaining("give the secret again") });
      expect(provider.tokenRequests).toEqual([]);
    },
  );

  it("is not revoked at another service, also when the secret was given again for it", async () => {
    const { account, app } = await connected();
    const { store } = world.ports;
    const [before, client] = [await store.get(appKind, namespace, app), await store.get(oauthClientKind, namespace, app)];
    const asked: string[] = [];
    const oauthService = {
      ...world.ports.oauthService,
      revoke: async ({ revocationUrl }: RevocationRequest) => asked.push(revocationUrl) > 0,
    };
    for (const revocationUrl of ["http://127.0.0.1:9/revoke", `${provider.origin}/revoke`]) {
      const { metadata } = await store.get(appKind, namespace, app);
      const oauth = { ...before.spec.oauth, tokenUrl: `${provider.origin}/token`, revocationUrl };
      await store.update(appKind, { ...before, metadata, spec: { ...before.spec, oauth } });
      const { metadata: now } = await store.get(oauthClientKind, namespace, app);
      const origins = [provider.origin, new URL(revocationUrl).origin];
      await store.update(oauthClientKind, { ...client, metadata: now, spec: { ...client.spec, origins } });
      await revokeAccount(account, { ...world.ports, oauthService });
    }
    expect(asked).toEqual([`${provider.origin}/revoke`]);
  });

  it("is refreshed with apps and clients from caches, and is checked again when its client changes", async () => {
    const { account, app } = await connected();
    const lists: string[] = [];
    const { store } = world.ports;
    const list: typeof store.list = (kind, options) => {
      if (kind.kind === "App" || kind.kind === "OAuthClient") lists.push(`${kind.kind} ${options?.namespace}`);
      return store.list(kind, options);
    };
    const counted = { ...store, list };
    const config = { ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 };
    const running = await startOperator(config, { ...world.ports, store: counted, apps: world.ports.apps.from(counted) });
    try {
      await until(async () => (await readyOf(account))?.status === "True", "it is refreshed");
      expect(lists).toEqual(expect.arrayContaining(["App undefined", "OAuthClient undefined"]));
      // Other accounts of this file may need to be connected again, about which no cache decides.
      await until(() => running.idle, "all of them have been");
      const before = provider.tokenRequests.length;
      const client = await store.get(oauthClientKind, namespace, app);
      await store.update(oauthClientKind, { ...client, spec: { ...client.spec, clientId: "other" } });
      await until(async () => (await readyOf(account))?.reason === "NeedsReconnect", "its client has another id");
      const changed = await store.get(oauthClientKind, namespace, app);
      await store.update(oauthClientKind, { ...changed, spec: client.spec });
      await until(async () => (await readyOf(account))?.status === "True", "its client is the same again");
      // From here on no pass sees a client of which it would ask without caches.
      lists.length = 0;
      const known = await accountNow(account);
      const renamed = await store.update(accountKind, { ...known, spec: { ...known.spec, name: "Renamed" } });
      await until(
        async () => ((await readyOf(account))?.observedGeneration ?? 0) >= renamed.metadata.generation,
        "the account is checked again",
      );
      expect(lists).toEqual([]);
      expect(provider.tokenRequests).toHaveLength(before);
    } finally {
      await running.stop();
    }
  });

  it("is not refreshed by a client of an App that names no origins", async () => {
    const { account, app } = await connected();
    const { metadata, ...client } = await world.ports.store.get(oauthClientKind, namespace, app);
    const { origins: _, ...spec } = client.spec;
    await world.ports.store.update(oauthClientKind, { ...client, metadata, spec });
    await operator()(account);
    expect(await readyOf(account)).toMatchObject({ reason: "NeedsReconnect", message: expect.stringContaining("give the secret again") });
    expect(provider.tokenRequests).toEqual([]);
  });

  it("does not use the client of another owner", async () => {
    const { account } = await connected(namespaceOfOwner("u_other"));
    await operator()(account);
    expect(await readyOf(account)).toMatchObject({ reason: "NeedsReconnect" });
    expect(provider.tokenRequests).toEqual([]);
  });

  it("needs to be connected again when the service refuses its refresh token, and no longer once it was", async () => {
    const { account } = await connected();
    const operate = operator();
    provider.refreshToken = "another";
    await operate(account);
    expect((await accountNow(account)).status.needsReconnect).toBe(true);
    expect(await readyOf(account)).toMatchObject({ status: "False", reason: "NeedsReconnect" });
    const before = await accountNow(account);
    const { oauth } = before.spec;
    if (oauth === undefined) throw new Error("it has oauth");
    await world.ports.store.update(accountKind, {
      ...before,
      spec: { ...before.spec, oauth: { ...oauth, refreshToken: await sealed("another") } },
    });
    await operate(account);
    expect((await accountNow(account)).status.needsReconnect).toBeUndefined();
    expect(await readyOf(account)).toMatchObject({ status: "True" });
  });

  it("needs to be connected again when its client is deleted or has another id", async () => {
    const { account, app } = await connected();
    const client = await world.ports.store.get(oauthClientKind, namespace, app);
    await world.ports.store.update(oauthClientKind, { ...client, spec: { ...client.spec, clientId: "other" } });
    await operator()(account);
    expect(await readyOf(account)).toMatchObject({ reason: "NeedsReconnect", message: expect.stringContaining("client_id") });
    await world.ports.store.delete(oauthClientKind, namespace, app);
    await operator()(account);
    expect(await readyOf(account)).toMatchObject({ reason: "NeedsReconnect", message: expect.stringContaining("no longer exists") });
  });

  it("is refreshed with its own refresh token once it was connected again with the same one", async () => {
    const { account } = await connected();
    const operate = operator();
    const first = provider.refreshToken;
    await operate(account);
    const before = await accountNow(account);
    provider.refreshToken = first; // The service has forgotten the one that replaced it.
    const connection = { client: before.spec.connection?.client ?? "", connectedAt: "2026-11-21T13:00:00Z" };
    await world.ports.store.update(accountKind, { ...before, spec: { ...before.spec, connection } });
    now += 3_600_000;
    await operate(account);
    expect(await readyOf(account)).toMatchObject({ status: "True" });
    expect(provider.tokenRequests.map(({ refresh_token: token }) => token)).toEqual([first, first]);
  });

  it("loses no refresh when two operators race at a service that rotates its tokens", async () => {
    const { account } = await connected();
    const operators = [operator(), operator()];
    for (let round = 0; round < 20; round++) {
      await Promise.all(operators.map((operate) => operate(account).catch(() => undefined))); // One of them loses the write.
      for (const operate of operators) await operate(account).catch(() => undefined);
      now += 61_000; // A claim of the one that lost has ended.
      for (const operate of operators) await operate(account);
      expect(await readyOf(account)).toMatchObject({ status: "True" });
      now += 3_600_000;
    }
    const { status } = await accountNow(account);
    expect(status.needsReconnect).toBeUndefined();
    expect(provider.tokenRequests.every(({ grant_type: type }) => type === "refresh_token")).toBe(true);
  });
});
