import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { accountKind, type AccountResource } from "../../../crds/account.ts";
import { sourceHealth } from "../../../crds/source-health.ts";
import { sourceKind } from "../../../crds/source.ts";
import { workflowHealthOf } from "../../../crds/workflow-health.ts";
import { workflowKind } from "../../../crds/workflow.ts";
import type { Build } from "../../../domain/component/definition.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import type { ErrorOccurrence } from "../../../domain/mail/error-occurrence.ts";
import { startOperator } from "../../../operator/start.ts";
import { client, startOauthServer, type OauthServer } from "../../support/oauth-server.ts";
import { until } from "../../support/until.ts";
import { definition, owner, withOperatorWorld } from "./world.ts";
import { workflowsIn } from "./workflow-support.ts";

const shop = { name: "shop", type: "app", app: "shop" };

/** Sources, and actions for code with the word `action`, with an app prop. */
const build = async (code: string): Promise<Build> => {
  const hash = createHash("sha256").update(code).digest("hex");
  const action = { name: "Act", type: "action", props: [shop], hooks: [], hasAdditionalProps: false } as const;
  const source = { ...definition, props: [shop, ...definition.props] };
  return {
    codeHash: hash,
    bundle: hash,
    bundleBytes: 1,
    needsNode: false,
    lockfile: null,
    definition: code.includes("action") ? action : source,
  };
};
const world = withOperatorWorld({ egressAllow: ["127.0.0.0/8"], build });
const namespace = namespaceOfOwner(owner);
const flows = workflowsIn(world);
const mails: ErrorOccurrence[] = [];
let [server, operator, count]: [OauthServer, { stop(): Promise<void> }, number] = [undefined as never, undefined as never, 0];

beforeAll(async () => {
  server = await startOauthServer();
  const { reconnectMails } = world.ports;
  const request: typeof reconnectMails.request = async (account, connectedAt) => {
    await reconnectMails.request(account, connectedAt);
    mails.push(account);
  };
  operator = await startOperator(
    { ingressUrl: "http://ingress.test", hookTimeoutMs: 20_000 },
    { ...world.ports, reconnectMails: { request } },
  );
});
afterAll(async () => {
  await operator.stop();
  await server.close();
});

const sealed = async (text: string) => ({ sealed: await world.ports.secrets.seal(text) });

/** With an access token, and a refresh token that the service refuses for good unless it is `refreshToken`. */
async function createAccount(refreshToken: string, more: object = {}): Promise<AccountResource> {
  return world.ports.store.create(accountKind, {
    namespace,
    name: `apn-reconnect${++count}`,
    spec: {
      app: "shop",
      name: "Team",
      credentials: { oauth_access_token: await sealed("first-token") },
      oauth: {
        tokenUrl: server.tokenUrl,
        clientId: client.clientId,
        clientSecret: await sealed(client.clientSecret),
        refreshToken: await sealed(refreshToken),
      },
      ...more,
    },
  });
}

const accountNow = ({ metadata }: AccountResource) => world.ports.store.get(accountKind, namespace, metadata.name);
async function idOf(account: AccountResource): Promise<string> {
  await until(async () => (await accountNow(account)).status.id !== undefined, "the account has an id");
  return (await accountNow(account)).status.id ?? "";
}

async function change(account: AccountResource, spec: Partial<AccountResource["spec"]>): Promise<void> {
  const current = await accountNow(account);
  await world.ports.store.update(accountKind, { ...current, spec: { ...current.spec, ...spec } });
}

/** A source and a workflow that use the account. */
async function users(id: string) {
  const source = await world.createSource({ code: `export default { n: ${++count} }`, props: { shop: { authProvisionId: id } } });
  const step = { name: "act", code: `export default { n: ${++count} } // action`, props: { shop: { authProvisionId: id } } };
  const workflow = await flows.create({ steps: [step] } as never);
  const [{ name }, { name: flow }] = [source.metadata, workflow.metadata];
  return {
    source: () => world.ports.store.get(sourceKind, namespace, name),
    workflow: () => world.ports.store.get(workflowKind, namespace, flow),
  };
}

/** State and problem of both, in the status, which must be those that REST computes. */
async function healths({ source, workflow }: Awaited<ReturnType<typeof users>>) {
  const [one, other] = [await source(), await workflow()];
  for (const [stored, computed] of [
    [one.status, sourceHealth(one)],
    [other.status, workflowHealthOf(other)],
  ] as const)
    expect([stored.state, stored.problem?.code, stored.problem?.message]).toEqual([
      computed.state,
      computed.problem?.code,
      computed.problem?.message,
    ]);
  return [one, other].map(({ status: { state, problem } }) => ({ state, problem }));
}

const areAll = (states: string, using: Awaited<ReturnType<typeof users>>) =>
  until(
    async () => (await Promise.all([using.source(), using.workflow()])).every(({ status }) => status.state === states),
    `both are ${states}`,
  );

it("names the account in the problem of each source and workflow that uses it, until it is connected again, and mails once", async () => {
  const account = await createAccount(server.refreshToken);
  const id = await idOf(account);
  const using = await users(id);
  await areAll("active", using);
  expect((await using.source()).status.conditions?.map(({ type }) => type)).not.toContain("AccountsConnected");

  await change(account, { oauth: { ...account.spec.oauth, refreshToken: await sealed("revoked") } as never });
  await areAll("failing", using);
  const problem = {
    code: "account_needs_reconnect",
    message: `account ${id} ("Team") of app shop must be connected again: choose Reconnect on the page Accounts of the console, or run hw accounts reconnect ${id}`,
  };
  for (const health of await healths(using)) expect(health.problem).toMatchObject(problem);
  // They go on with the last token.
  for (const { status } of [await using.source(), await using.workflow()])
    expect(status.conditions?.find(({ type }) => type === "Ready")).toMatchObject({ status: "True" });
  const { name } = (await using.source()).metadata;
  expect(world.recordedEvents.filter((event) => event === `Source/${name} AccountNeedsReconnect`)).toHaveLength(1);

  await change(account, { name: "Another name" }); // Another pass of the account.
  await until(async () => (await using.source()).status.problem?.message.includes("Another name") === true, "the problem has the new name");
  expect(mails.filter(({ emitter }) => emitter === id)).toMatchObject([
    { owner, name: "Team", code: "needs_reconnect", run: null, message: expect.stringContaining("invalid_grant") },
  ]);

  await change(account, { oauth: { ...account.spec.oauth, refreshToken: await sealed(server.refreshToken) } as never });
  await areAll("active", using);
  expect((await healths(using)).map((health) => health.problem)).toEqual([undefined, undefined]);
});

it("reports an account that is deleted as such, and no longer as one to connect again", async () => {
  const account = await createAccount("revoked");
  const using = await users(await idOf(account));
  await areAll("failing", using);
  await world.ports.store.delete(accountKind, namespace, account.metadata.name);
  await until(async () => (await using.source()).status.problem?.code === "account_not_found", "it is not found");
  const condition = async () => (await using.source()).status.conditions?.find(({ type }) => type === "AccountsConnected");
  await until(async () => (await condition())?.status === "True", "it is not to be connected again");
});

it("needs an account without a refresh token to be connected again once its access token has expired, and not before", async () => {
  const now = Date.now();
  const connection = { client: "oac_any", connectedAt: new Date(now).toISOString() };
  const of = (expiresAt?: string) =>
    world.ports.store.create(accountKind, {
      namespace,
      name: `apn-expiring${++count}`,
      spec: { app: "shop", credentials: {}, connection: { ...connection, ...(expiresAt === undefined ? {} : { expiresAt }) } },
    });
  const [over, soon, later, never] = [
    await of(new Date(now - 1_000).toISOString()),
    await of(new Date(now + 3_000).toISOString()),
    await of(new Date(now + 3_600_000).toISOString()),
    await of(),
  ];
  for (const account of [over, soon]) {
    await until(async () => (await accountNow(account)).status.needsReconnect === true, "it has expired");
    expect((await accountNow(account)).status.conditions?.find(({ type }) => type === "Ready")).toMatchObject({
      reason: "NeedsReconnect",
      message: expect.stringMatching(/has expired at .*Z, and the service gave no refresh token\. Connect the account again/),
    });
  }
  expect(Date.now()).toBeGreaterThanOrEqual(now + 3_000);
  for (const account of [later, never])
    expect((await accountNow(account)).status).toMatchObject({
      conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status: "True" })]),
    });
});
