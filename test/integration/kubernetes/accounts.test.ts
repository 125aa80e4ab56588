import { afterAll, beforeAll, expect, it } from "vitest";
import { accountKind } from "../../../crds/account.ts";
import { hasMoved } from "../../../domain/source/deployment.ts";
import { startOperator, type StartedOperator } from "../../../operator/start.ts";
import { createPoolSecrets, ensurePoolKeys } from "../../../platform/secrets/secrets.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { client, startOauthServer, type OauthServer } from "../../support/oauth-server.ts";
import { newOwner, whenever } from "./support.ts";
import { evaluatedBuild } from "../operator/builds.ts";
import { resourcesInCluster } from "../operator/cluster.ts";
import { withOperatorWorld } from "../operator/world.ts";

const kube = await withKubeApi();
const owner = newOwner();

const manifest = (tokenUrl: string, apiKey: string): string => `
apiVersion: v1
kind: Secret
metadata: { name: shop, labels: { headwater.dev/may-be-referenced: "true" } }
stringData:
  api_key: ${apiKey}
  client_secret: ${JSON.stringify(client.clientSecret)}
  refresh_token: refresh-0-of-the-user
---
apiVersion: headwater.dev/v1alpha1
kind: Account
metadata: { name: apn-shop }
spec:
  app: shop
  credentials:
    api_key: { secretKeyRef: { name: shop, key: api_key } }
  oauth:
    tokenUrl: ${tokenUrl}
    clientId: ${client.clientId}
    clientSecret: { secretKeyRef: { name: shop, key: client_secret } }
    refreshToken: { secretKeyRef: { name: shop, key: refresh_token } }
---
apiVersion: headwater.dev/v1alpha1
kind: Source
metadata: { name: shop }
spec:
  props: { shop: apn_shop }
  code: |
    export default { name: "Shop", props: { shop: { type: "app", app: "shop" } }, hooks: { activate() {} }, run() {} };
`;

kube.describe("an account on a Kubernetes API", () => {
  const world = withOperatorWorld({
    owner,
    build: evaluatedBuild,
    egressAllow: ["127.0.0.0/8"],
    resources: () => resourcesInCluster(kube),
  });
  let [operator, server, namespace]: [StartedOperator, OauthServer, string] = [] as never;

  beforeAll(async () => {
    server = await startOauthServer();
    Object.assign(server, { rotates: true, expiresIn: 5 });
    namespace = await kube.namespace({ "headwater.dev/owner": owner });
    operator = await startOperator({ ingressUrl: "http://ingress.test", hookTimeoutMs: 4_000, externalPollMs: 1_000 }, world.ports);
  });
  afterAll(async () => {
    await operator.stop();
    await server.close();
  });

  /** The secrets that runs of the source get, and their deployment. */
  async function seenByRuns(): Promise<{ readonly id: string; readonly auth: Readonly<Record<string, string>> } | undefined> {
    const source = (await kube.objects.find("source shop", namespace)) as { status?: { id?: string } } | undefined; // What the operator wrote.
    const id = source?.status?.id;
    const entry = id === undefined ? undefined : await world.ports.deployments.get(`default.${id}`);
    if (entry === undefined || hasMoved(entry) || entry.secrets === null) return undefined;
    const pool = await createPoolSecrets(await ensurePoolKeys(world.keysDirectory, "default"));
    const opened = JSON.parse(await pool.open(entry.secrets)) as { shop: { $auth: Record<string, string> } }; // The operator sealed it.
    return { id: entry.id, auth: opened.shop.$auth };
  }

  const tokenSecret = async (): Promise<string> => {
    const { status } = await world.ports.store.get(accountKind, namespace, "apn-shop");
    return status.oauth?.accessToken?.secretKeyRef?.name ?? "";
  };

  it("stores refreshed tokens in its own Secrets, gives them to sources, and deletes them with the account", async () => {
    await kube.objects.apply(manifest(server.tokenUrl, "key-1"), namespace);
    await whenever(async () => (await seenByRuns()) !== undefined, "the source is deployed with its account");
    const first = await seenByRuns();
    expect(first?.auth).toEqual({ api_key: "key-1", oauth_access_token: expect.stringMatching(/^access-\d+-of-the-user$/) });
    const secret = await tokenSecret();
    await whenever(async () => {
      const owners = (await kube.objects.find(`secret ${secret}`, namespace))?.metadata["ownerReferences"];
      return secret !== (await tokenSecret()) || JSON.stringify(owners ?? "").includes("apn-shop");
    }, "the Secret belongs to the account");

    await whenever(async () => server.given.length >= 2 && (await tokenSecret()) !== secret, "the token is refreshed");
    await whenever(async () => (await seenByRuns())?.auth["oauth_access_token"] === server.given.at(-1), "the source has the new token");
    await whenever(async () => (await kube.objects.find(`secret ${secret}`, namespace)) === undefined, "the former Secret ends");
    expect((await seenByRuns())?.id).toBe(first?.id);
    expect(world.ran.size).toBe(1);
    expect([...world.ran.values()].flat()).toEqual(["activate 1"]);
  });

  it("passes on a changed Secret, which it is not notified of", async () => {
    await kube.objects.apply(manifest(server.tokenUrl, "key-2"), namespace);
    await whenever(async () => (await seenByRuns())?.auth["api_key"] === "key-2", "the source has the new key");
    const account = await kube.objects.find("account apn-shop", namespace);
    expect(JSON.stringify(account)).not.toMatch(/access-\d|refresh-\d|key-2/);
  });
});
