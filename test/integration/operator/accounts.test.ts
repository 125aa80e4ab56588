import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { accountKind, type AccountSpec } from "../../../crds/account.ts";
import { labels, type Resource } from "../../../crds/resource.ts";
import { holderOf } from "../../../crds/secret-values.ts";
import { sourceKind, type SourceSpec } from "../../../crds/source.ts";
import type { Build } from "../../../domain/component/definition.ts";
import { hasMoved } from "../../../domain/source/deployment.ts";
import { Conflict, NotFound, Unavailable } from "../../../domain/errors.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { accountReconciler } from "../../../operator/account/reconciler.ts";
import { componentReconciler } from "../../../operator/component/reconciler.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { ownComponentName } from "../../../operator/configured/component.ts";
import { sourceReconciler } from "../../../operator/source/reconciler.ts";
import { Slugs } from "../../../operator/source/slugs.ts";
import { client, say, startOauthServer, type OauthServer } from "../../support/oauth-server.ts";
import { createPoolSecrets, ensurePoolKeys } from "../../../platform/secrets/secrets.ts";
import { definition, owner, withOperatorWorld } from "./world.ts";

const build = async (given: unknown): Promise<Build> => {
  const hash = createHash("sha256").update(JSON.stringify(given)).digest("hex");
  const props = [{ name: "shop", type: "app", app: "shop" }, ...definition.props];
  return { codeHash: hash, bundle: hash, bundleBytes: 1, needsNode: false, lockfile: null, definition: { ...definition, props } };
};
const world = withOperatorWorld({ egressAllow: ["127.0.0.0/8"], build });
const signal = new AbortController().signal;
const namespace = namespaceOfOwner(owner);
let [server, now, count]: [OauthServer, number, number] = [undefined as never, 0, 0];

beforeAll(async () => {
  server = await startOauthServer();
});
afterAll(() => server.close());
beforeEach(() => {
  server.instead = undefined;
  server.requests.length = 0;
  Object.assign(server, { rotates: false, expiresIn: 3_600, refreshToken: "refresh-0-of-the-user" });
  now = Date.parse("2026-11-21T12:00:00Z");
});

const sealed = async (text: string) => ({ sealed: await world.ports.secrets.seal(text) });
const oauth = async (other: object = {}): Promise<AccountSpec["oauth"]> => ({
  tokenUrl: server.tokenUrl,
  clientId: client.clientId,
  clientSecret: await sealed(client.clientSecret),
  refreshToken: await sealed(server.refreshToken),
  ...other,
});

function createAccount(spec: Partial<AccountSpec> = {}, where = namespace, name = `apn-shop${++count}`) {
  return world.ports.store.create(accountKind, { namespace: where, name, spec: { app: "shop", credentials: {}, ...spec } });
}

/** An operator with the test's clock; another one acts as another process. */
function operator(ports: Partial<OperatorPorts> = {}) {
  const own = { ...world.ports, clock: { now: () => now }, random: () => 0, ...ports };
  const changed: string[] = [];
  const account = accountReconciler(own, { onChange: ({ metadata }) => void changed.push(metadata.name) });
  const source = sourceReconciler({ ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 }, own, new Slugs());
  return {
    changed,
    account: (resource: Resource) => account(keyOf(resource)),
    source: async (resource: Resource) => {
      await source(keyOf(resource), signal);
      await componentReconciler(own)(`${namespace}/${ownComponentName(resource.metadata.name)}`);
      return source(keyOf(resource), signal);
    },
  };
}

const accountNow = (of: Resource) => world.ports.store.get(accountKind, of.metadata.namespace, of.metadata.name);
const readyOf = async (of: Resource) => {
  const kind = of.kind === "Account" ? accountKind : sourceKind;
  const found = await world.ports.store.get<
    unknown,
    { conditions?: readonly { type: string; status: string; reason: string; message: string }[] }
  >(kind as never, of.metadata.namespace, of.metadata.name);
  return found.status.conditions?.find(({ type }) => type === "Ready");
};

async function changeAccount(of: Resource, change: Partial<AccountSpec>): Promise<void> {
  const current = await accountNow(of);
  await world.ports.store.update(accountKind, { ...current, spec: { ...current.spec, ...change } });
}

async function deploymentOf(source: Resource) {
  const { status } = await world.ports.store.get(sourceKind, namespace, source.metadata.name);
  const entry = await world.ports.deployments.get(`default.${status.id}`);
  if (entry === undefined || hasMoved(entry)) throw new Error("it is not deployed");
  return entry;
}

/** The secret values that a runner of the pool gets. */
async function seenByRuns(source: Resource): Promise<unknown> {
  const { secrets } = await deploymentOf(source);
  if (secrets === null) return null;
  return JSON.parse(await (await createPoolSecrets(await ensurePoolKeys(world.keysDirectory, "default"))).open(secrets));
}

const createSource = (props: SourceSpec["props"]) => world.createSource({ code: `export default { n: ${++count} }`, props });

describe("an app prop", () => {
  it("gets the account's sealed credentials, also by the account's id alone", async () => {
    const account = await createAccount({ credentials: { api_key: await sealed("key-1"), oauth_uid: await sealed("7") } });
    const operate = operator();
    await operate.account(account);
    const id = (await accountNow(account)).status.id;
    for (const value of [{ authProvisionId: id ?? "" }, id ?? ""]) {
      const source = await createSource({ shop: value });
      await operate.source(source);
      expect(await readyOf(source)).toMatchObject({ status: "True" });
      expect(await seenByRuns(source)).toEqual({ shop: { authProvisionId: id, $auth: { api_key: "key-1", oauth_uid: "7" } } });
      expect(JSON.stringify(await deploymentOf(source))).not.toContain("key-1");
    }
  });

  it("gets changed credentials without hooks, timers or a new deployment id", async () => {
    const account = await createAccount({ credentials: { api_key: await sealed("key-1") } });
    const operate = operator();
    await operate.account(account);
    const source = await createSource({ shop: "apn_shop" + count });
    await operate.source(source);
    const before = await deploymentOf(source);
    await changeAccount(account, { credentials: { api_key: await sealed("key-2") } });
    await operate.account(account);
    expect(operate.changed).toEqual([account.metadata.name]);
    const timers = { ...world.ports.timers, set: () => Promise.reject(new Error("timers are set again")) };
    await operator({ timers }).source(source);
    expect(await seenByRuns(source)).toMatchObject({ shop: { $auth: { api_key: "key-2" } } });
    const { secrets: _a, secretsSeen: _b, ...rest } = await deploymentOf(source);
    expect(before).toMatchObject(rest);
    expect(world.ran.get(before.source)).toEqual(["deploy 1", "activate 1"]);
    const settled = await deploymentOf(source);
    await operate.source(source);
    expect(await deploymentOf(source)).toEqual(settled);
  });

  it("reports a deleted account, drops its credentials, and recovers when the account is created again", async () => {
    const account = await createAccount({ credentials: { api_key: await sealed("key-1") } });
    const { name } = account.metadata;
    const id = name.replace("-", "_");
    const operate = operator();
    await operate.account(account);
    const source = await createSource({ shop: id });
    await operate.source(source);
    await world.ports.store.delete(accountKind, namespace, name);
    await operate.source(source);
    expect(await readyOf(source)).toMatchObject({ status: "False", reason: "AccountNotFound", message: expect.stringContaining(id) });
    expect(await seenByRuns(source)).toBeNull();
    expect((await deploymentOf(source)).active).toBe(true);

    const again = await createAccount({ credentials: { api_key: await sealed("key-2") } }, namespace, name);
    await operate.account(again);
    await operate.source(source);
    expect(await readyOf(source)).toMatchObject({ status: "True", reason: "Deployed" });
    expect(await seenByRuns(source)).toMatchObject({ shop: { $auth: { api_key: "key-2" } } });
    expect(world.ran.get((await deploymentOf(source)).source)).toEqual(["deploy 1", "activate 1"]);
  });

  it("finds the account by the name of an id that no account has: names give no ids, and other owners may use them", async () => {
    const operate = operator();
    const theirs = await createAccount(
      { credentials: { api_key: await sealed("theirs") } },
      namespaceOfOwner("u_somebodyelse"),
      "apn-same",
    );
    const mine = await createAccount({ credentials: { api_key: await sealed("mine") } }, namespace, "apn-same");
    for (const account of [theirs, mine]) await operate.account(account);
    const ids = [(await accountNow(theirs)).status.id, (await accountNow(mine)).status.id];
    expect(ids).toEqual([expect.stringMatching(/^apn_[0-9a-z]{12}$/), expect.stringMatching(/^apn_[0-9a-z]{12}$/)]);
    const source = await createSource({ shop: "apn_same" });
    await operate.source(source);
    expect(await seenByRuns(source)).toMatchObject({ shop: { $auth: { api_key: "mine" } } });
  });

  it("refuses credentials above the size limit", async () => {
    const operate = operator();
    const credentials = Object.fromEntries(
      await Promise.all(Array.from({ length: 5 }, async (_, n) => [`f${n}`, await sealed("x".repeat(60_000))])),
    );
    const account = await createAccount({ credentials });
    await operate.account(account);
    const source = await createSource({ shop: account.metadata.name.replace("-", "_") });
    await operate.source(source);
    expect(await readyOf(account)).toMatchObject({ status: "False", reason: "CredentialsTooLarge" });
    expect(await readyOf(source)).toMatchObject({
      status: "False",
      reason: "AccountNotReady",
      message: expect.stringContaining("300000 bytes"),
    });
  });

  it("refuses accounts of another owner or another app", async () => {
    const operate = operator();
    const others = await createAccount({ credentials: {} }, namespaceOfOwner("u_somebodyelse"));
    const slack = await createAccount({ app: "slack" });
    // Another owner labels their account with this account's id.
    const fake = await createAccount({}, namespaceOfOwner("u_somebodyelse"));
    const mine = await createAccount({ credentials: { api_key: await sealed("mine") } });
    for (const account of [others, slack, mine]) await operate.account(account);
    await world.ports.store.update(accountKind, {
      ...fake,
      metadata: { ...fake.metadata, labels: { [labels.id]: mine.metadata.name.replace("-", "_") } },
    });
    const reasons = await Promise.all(
      [others, slack].map(async ({ metadata }) => {
        const source = await createSource({ shop: metadata.name.replace("-", "_") });
        await operate.source(source);
        return readyOf(source);
      }),
    );
    expect(reasons).toMatchObject([
      { status: "False", reason: "AccountNotFound" },
      { status: "False", reason: "AccountOfOtherApp", message: expect.stringMatching(/'shop'.*app 'shop'.*apn_.*app 'slack'/) },
    ]);
    const source = await createSource({ shop: mine.metadata.name.replace("-", "_") });
    await operate.source(source);
    expect(await seenByRuns(source)).toMatchObject({ shop: { $auth: { api_key: "mine" } } });
  });
});

describe("an access token", () => {
  const tokenOf = async (account: Resource): Promise<string | undefined> => {
    const { status } = await accountNow(account);
    return status.oauth?.accessToken === undefined
      ? undefined
      : world.ports.secretValues.read(holderOf(accountKind, account), status.oauth.accessToken);
  };

  it("is refreshed at once if there is none, then before it expires, and reaches sources", async () => {
    const account = await createAccount({ oauth: await oauth() });
    const operate = operator();
    const source = await createSource({ shop: account.metadata.name.replace("-", "_") });
    const again = await operate.account(account);
    expect(again).toBe(3_600_000 - 300_000);
    expect(await tokenOf(account)).toBe(server.given.at(-1));
    await operate.source(source);
    expect(await seenByRuns(source)).toMatchObject({ shop: { $auth: { oauth_access_token: server.given.at(-1) } } });

    now += 3_600_000 - 300_001;
    await operate.account(account);
    expect(server.requests).toHaveLength(1);
    now += 1;
    await operate.account(account);
    expect(server.requests).toHaveLength(2);
    expect(operate.changed).toEqual([account.metadata.name]);
    await operate.source(source);
    expect(await seenByRuns(source)).toMatchObject({ shop: { $auth: { oauth_access_token: server.given.at(-1) } } });
    expect(JSON.stringify(await accountNow(account))).not.toMatch(/access-|refresh-\d/);
    expect((await accountNow(account)).status.oauth).not.toHaveProperty("refreshingSince");
  });

  it("uses the newest refresh token if the service replaces it, also in another process", async () => {
    server.rotates = true;
    const account = await createAccount({ oauth: await oauth() });
    for (let refreshes = 1; refreshes <= 3; refreshes++) {
      await operator().account(account);
      expect(server.requests).toHaveLength(refreshes);
      expect(await readyOf(account)).toMatchObject({ status: "True", reason: "Complete" });
      now += 3_600_000;
    }
    const fresh = "refresh-given-by-the-user";
    server.refreshToken = fresh;
    await changeAccount(account, { oauth: await oauth({ refreshToken: await sealed(fresh) }) });
    await operator().account(account);
    expect(server.requests.at(-1)?.parameters["refresh_token"]).toBe(fresh);
    expect(await readyOf(account)).toMatchObject({ status: "True" });
  });

  it("keeps its source waiting while the refresh fails, and the account reports why; both recover", async () => {
    server.instead = (_, response) => say(response, 503, {});
    const account = await createAccount({ oauth: await oauth() });
    const operate = operator();
    expect(await operate.account(account)).toBe(5_000);
    expect(await readyOf(account)).toMatchObject({
      status: "False",
      reason: "TokenEndpointUnavailable",
      message: expect.stringContaining("it answered 503"),
    });
    const source = await createSource({ shop: account.metadata.name.replace("-", "_") });
    await operate.source(source);
    expect(await readyOf(source)).toMatchObject({ status: "False", reason: "AccountNotReady" });
    // Another pass in the meantime does not request it again.
    expect(await operate.account(account)).toBe(5_000);
    expect(server.requests).toHaveLength(1);
    now += 5_000;
    expect(await operate.account(account)).toBe(10_000);
    server.instead = undefined;
    now += 10_000;
    await operate.account(account);
    await operate.source(source);
    for (const each of [account, source]) expect(await readyOf(each)).toMatchObject({ status: "True" });
  });

  it("stays the last one while the service refuses, until a user sets another refresh token", async () => {
    const account = await createAccount({ oauth: await oauth() });
    const operate = operator();
    await operate.account(account);
    const last = await tokenOf(account);
    server.refreshToken = "another";
    now += 3_600_000;
    await operate.account(account);
    expect(await readyOf(account)).toMatchObject({
      status: "False",
      reason: "NeedsReconnect",
      message: expect.stringContaining("invalid_grant"),
    });
    expect(JSON.stringify(await accountNow(account))).not.toMatch(/refresh-\d|no such token/);
    expect(await tokenOf(account)).toBe(last);
    now += 60_000;
    await operate.account(account);
    expect(server.requests).toHaveLength(2);
    await changeAccount(account, { oauth: await oauth({ refreshToken: await sealed("another") }) });
    await operate.account(account);
    expect(await readyOf(account)).toMatchObject({ status: "True" });
  });

  it("is requested once by two operators at once, one of which is a former leader", async () => {
    server.rotates = true;
    const account = await createAccount({ oauth: await oauth() });
    await world.ports.store.get(accountKind, namespace, account.metadata.name);
    await operator().account(account); // Writes labels and the like.
    now += 3_600_000;
    server.requests.length = 0;
    const both = await Promise.allSettled([operator().account(account), operator().account(account)]);
    expect(server.requests).toHaveLength(1);
    for (const each of both) if (each.status === "rejected") expect(each.reason).toBeInstanceOf(Conflict);
    await operator().account(account);
    expect(await readyOf(account)).toMatchObject({ status: "True" });
    expect(server.requests).toHaveLength(1);
  });

  it("is not lost if the store becomes unavailable after the service returned it", async () => {
    server.rotates = true;
    const account = await createAccount({ oauth: await oauth() });
    let fails = 0;
    const { store } = world.ports;
    const updateStatus: typeof store.updateStatus = (kind, resource) => {
      const holdsToken = JSON.stringify(resource.status).includes("accessToken");
      if (holdsToken && fails++ < 3) return Promise.reject(new Unavailable("Postgres is away"));
      return store.updateStatus(kind, resource);
    };
    const operate = operator({ store: { ...store, updateStatus } });
    for (let n = 0; n < 3; n++) await expect(operate.account(account)).rejects.toThrow(Unavailable);
    await operate.account(account);
    expect(server.requests).toHaveLength(1);
    expect(await tokenOf(account)).toBe(server.given.at(-1));
    now += 3_600_000;
    await operate.account(account);
    expect(await readyOf(account)).toMatchObject({ status: "True" });
  });

  it("is refreshed by the next operator after one was killed during its request", async () => {
    const account = await createAccount({ oauth: await oauth() });
    const dies = operator({ tokenRefresher: { refresh: () => Promise.reject(new Error("killed")) } });
    await expect(dies.account(account)).rejects.toThrow("killed");
    const next = operator();
    const waits = (await next.account(account)) ?? 0;
    expect(waits).toBeLessThanOrEqual(60_000);
    expect(server.requests).toHaveLength(0);
    expect(await readyOf(account)).toMatchObject({ status: "False", reason: "TokenRefreshing" });
    now += waits;
    await next.account(account);
    expect(await readyOf(account)).toMatchObject({ status: "True" });
  });

  it("follows its Secrets: a missing one is reported, a changed refresh token starts a new grant", async () => {
    const texts: Record<string, string> = { secret: client.clientSecret };
    const read: OperatorPorts["secretValues"]["read"] = async (_, { secretKeyRef, sealed: text }) => {
      if (text !== undefined) return world.ports.secrets.open(text);
      const found = texts[secretKeyRef?.key ?? ""];
      if (found === undefined) throw new NotFound(`the Secret has no key '${secretKeyRef?.key}'`);
      return found;
    };
    const references = {
      clientSecret: { secretKeyRef: { name: "shop", key: "secret" } },
      refreshToken: { secretKeyRef: { name: "shop", key: "token" } },
    };
    const account = await createAccount({ oauth: await oauth(references) });
    const operate = operator({ secretValues: { ...world.ports.secretValues, read } });
    expect(await operate.account(account)).toBeLessThanOrEqual(10_000);
    expect(await readyOf(account)).toMatchObject({ reason: "SecretNotFound", message: expect.stringContaining("oauth.refreshToken") });
    texts["token"] = "wrong";
    await operate.account(account);
    expect(await readyOf(account)).toMatchObject({ reason: "NeedsReconnect" });
    texts["token"] = server.refreshToken;
    await operate.account(account);
    expect(await readyOf(account)).toMatchObject({ status: "True" });
  });
});
