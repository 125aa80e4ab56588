import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { apiBinding, applyChart, binding, bindings } from "../charts/as-account.ts";
import { connectKubernetes } from "../../platform/kubernetes/access/connection.ts";
import { readKubeconfig } from "../../platform/kubernetes/access/kubeconfig.ts";
import { resourceLines } from "../../platform/kubernetes/backup/save.ts";
import { savedObject } from "../../platform/kubernetes/backup/saved-object.ts";
import { findProgram, objectsOf, render, type Rendered } from "../support/helm.ts";
import { kubeconfigOf } from "../support/kube/kube-api-client.ts";
import { withKubeApi } from "../support/kube/kube-api.ts";
import { describeRight, kubernetesRights, unloggedRights } from "../support/rights/kubernetes.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster } from "../support/system/cluster.ts";
import { until } from "../support/until.ts";

/**
 * The processes of the roles with the tokens of the chart's ServiceAccounts, on an API server that logs each request. The chart grants
 * exactly the rights that they use, except for those that no log shows.
 */
const directory = await temporaryDirectory("used-rights");
const auditLog = join(directory.path, "audit.log");
const kube = await withKubeApi({
  own: true,
  crds: false,
  flags: [`--audit-policy-file=${join(import.meta.dirname, "support/audit-policy.yaml")}`, `--audit-log-path=${auditLog}`],
});
const missing = kube.missing ?? (findProgram("helm") === undefined || !kube.hasKubectl ? "helm or kubectl was not found" : undefined);
const suite = missing === undefined ? describe : describe.skip;

/** Less than the limit of a test. */
const within = { timeout: 240_000, interval: 500 };
const owned = "headwater-default";
const examples = join(import.meta.dirname, "../../docs/examples/kubernetes");

interface Listed {
  readonly data: { readonly id: string };
}

let cluster: Cluster;
let objects: readonly Rendered[] = [];

suite(`the rights of roles${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  beforeAll(async () => {
    const flags = ["--set", "backup.enabled=true"];
    await applyChart(kube, ...flags);
    objects = objectsOf(await render(...flags));
    const configs = join(directory.path, "configs");
    await mkdir(configs);
    const configOf = async (account: string): Promise<string> => {
      const path = join(configs, account);
      await writeFile(path, await kubeconfig(account), { mode: 0o600 });
      return path;
    };
    // As an earlier release left it.
    const labels = { "app.kubernetes.io/managed-by": "headwater" };
    const former = binding({ name: "headwater-api" });
    await kube.client.create(bindings(owned), { ...former, metadata: { ...former.metadata, labels } });
    const script = join(import.meta.dirname, "../../scripts/install-secrets.ts");
    const env = { ...process.env, KUBECONFIG: await configOf("create-secrets") };
    const install = (database: string) => promisify(execFile)(process.execPath, [script, "--postgres", `db:5432/${database}`], { env });
    await install("before");
    await install("headwater");
    const pods = join(configs, "runner-pods.json");
    await configOf("backup");
    await writeFile(pods, dataOf("headwater-runner-pods")["runner-pods.json"] ?? "");
    cluster = await startCluster(directory.path, {
      kubeconfig: kube.kubeconfigPath,
      envOf: {
        api: { KUBECONFIG: await configOf("api"), HEADWATER_KEYS: configs },
        operator: { KUBECONFIG: await configOf("operator"), HEADWATER_RUNNER_PODS: pods, HEADWATER_BACKUPS: "true" },
      },
    });
  });
  afterAll(async () => {
    await cluster?.stop();
    await directory.remove();
  });

  it("deploys resources that kubectl applies", async () => {
    for (const file of ["webhook", "timer-source", "listening-source", "errors", "account", "configmap-source", "workflow"])
      await kube.objects.apply(readFileSync(join(examples, `${file}.yaml`), "utf8"), owned);
    await kube.objects.apply(JSON.stringify(kiosk), owned);
    await kube.objects.apply(JSON.stringify(clientOfKiosk), owned);
    await kube.objects.apply(readFileSync(join(examples, "runner-pool.yaml"), "utf8"), "");
    for (const what of ["source heartbeat", "source tickets", "webhook receiver", "workflow orders"]) await untilReady(what);
    for (const name of ["Beat", "Pulse"]) {
      const changed = readFileSync(join(examples, "timer-source.yaml"), "utf8").replace(/name: "[^"]+"/, `name: "${name}"`);
      await kube.objects.apply(changed, owned);
      await untilReady("source heartbeat");
    }
    const ofApi = `${bindings(owned)}/${apiBinding}`;
    const patched = await kube.client.request("PATCH", ofApi, { subjects: [] }, { "content-type": "application/merge-patch+json" });
    expect(patched.status).toBe(200);
    await kube.objects.delete("autosubscription errors", owned);
    await kube.objects.delete("source tickets", owned);
    await until(async () => (await kube.objects.find("component tickets-code", owned)) === undefined, "the component is deleted");
  });

  it("creates, changes and deletes each kind through the REST interface", async () => {
    const code = `export default { name: "Rest", props: { token: { type: "string", secret: true, optional: true } }, async run() {} };`;
    const webhook = await create("/webhooks", { url: "https://example.com/" });
    const source = await create("/sources", { component_code: code, name: "Rest", configured_props: { token: "secret" } });
    expect([webhook, source].map((id) => id.split("_")[0])).toEqual(["wh", "dc"]);
    const account = await create("/accounts", { app: "tickets", credentials: { api_key: "x" } });
    const workflow = await create("/workflows", { name: "Rest", triggers: [{ type: "http" }], steps: [] });
    const component = await create("/components", { component_code: code.replace("Rest", "Alone") });
    const auto = `/auto_subscriptions?event_name=%24errors&listener_id=${webhook}`;
    await create(auto);
    await create(`/subscriptions?emitter_id=${source}&listener_id=${webhook}&event_name=x`);
    await done("PUT", `/sources/${source}`, { name: "Changed", configured_props: { token: "other" } });
    await done("PUT", `/webhooks/${webhook}`, { name: "Changed" });
    await done("PUT", `/accounts/${account}`, { credentials: { api_key: "y" } });
    await done("PUT", `/workflows/${workflow}`, { name: "Changed" });
    const oauth = { authorization_url: "https://example.com/authorize", token_url: "https://example.com/token" };
    await done("POST", "/apps", { name_slug: "shop", name: "Shop", auth_type: "oauth", oauth });
    await done("PUT", "/apps/shop", { name: "Changed" });
    const client = await create("/oauth_clients", { app: "shop", client_id: "a", client_secret: "secret" });
    await done("PUT", `/oauth_clients/${client}`, { client_id: "b" });
    await done("PUT", "/variables/REGION", { value: "eu" });
    await done("PUT", "/variables/REGION", { value: "hush", secret: true });
    const store = await create("/data_stores", { name: "Rest" });
    await done("PUT", `/data_stores/${store}`, { name: "Changed" });
    await done("PUT", `/data_stores/${store}/entries/a`, { value: 1 });
    await done("POST", "/apps/shop/connect", {});
    await done("DELETE", auto);
    await done("DELETE", `/subscriptions?emitter_id=${source}&listener_id=${webhook}&event_name=x`);
    for (const path of [
      `/sources/${source}`,
      `/webhooks/${webhook}`,
      `/accounts/${account}`,
      `/workflows/${workflow}`,
      `/components/${component}`,
      `/oauth_clients/${client}`,
      `/data_stores/${store}`,
      "/apps/shop",
      "/variables/REGION",
    ])
      await done("DELETE", path);
    const organization = await create("/orgs", { name: "Team" });
    const theirs = (await done<Listed>("POST", "/sources", { component_code: code, name: "Of a team", org_id: organization })).data.id;
    // Lists all kinds of the owner.
    expect(await cluster.call("DELETE", `/orgs/${organization}`)).toMatchObject({ status: 409 });
    await done("DELETE", `/sources/${theirs}`);
  });

  it("saves every resource, and owners' Secrets", async () => {
    const kubernetes = await connectKubernetes({ access: await readKubeconfig(join(directory.path, "configs", "backup")) });
    const kindsOf = async (): Promise<ReadonlySet<string>> => {
      const kinds = new Set<string>();
      for await (const line of resourceLines(kubernetes, () => undefined)) kinds.add(savedObject.parse(JSON.parse(String(line))).kind);
      return kinds;
    };
    // The operator binds the role of a new namespace a moment after it is created.
    await vi.waitFor(async () => expect([...(await kindsOf())]).toEqual(expect.arrayContaining(["Source", "Secret"])), within);
    await kubernetes.close();
  });

  it("are used, each of them, and suffice", async () => {
    for (const pool of await kube.objects.list("runnerpools", "")) await kube.objects.delete(`runnerpool ${pool.metadata.name}`, "");
    const granted = kubernetesRights.filter(({ role }) => role !== "view" && role !== "edit").map(describeRight);
    // The plugin OwnerReferencesPermissionEnforcement checks finalizers without a request.
    const expected = granted.filter((right) => unloggedRights[right] === undefined && !right.includes("/finalizers"));
    const unused = (): readonly string[] => expected.filter((right) => !used().has(right));
    await vi.waitFor(() => expect({ unused: unused(), refused: refusals() }).toEqual({ unused: [], refused: [] }), within);
    expect(Object.keys(unloggedRights).filter((right) => !granted.includes(right))).toEqual([]);
  });
});

const addresses = { authorizationUrl: "https://example.com/authorize", tokenUrl: "https://example.com/token" };
const kiosk = {
  apiVersion: "headwater.dev/v1alpha1",
  kind: "App",
  metadata: { name: "kiosk" },
  spec: { slug: "kiosk", name: "Kiosk", auth: "oauth2", oauth: addresses },
};
const clientOfKiosk = {
  apiVersion: "headwater.dev/v1alpha1",
  kind: "OAuthClient",
  metadata: { name: "kiosk" },
  spec: { app: "kiosk", clientId: "a" },
};

const dataOf = (name: string): Readonly<Record<string, string>> =>
  z.record(z.string(), z.string()).parse(objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === name)?.["data"]);

async function kubeconfig(account: string): Promise<string> {
  const path = `/api/v1/namespaces/headwater/serviceaccounts/headwater-${account}/token`;
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: { name: "" }, spec: {} };
  const { body } = await kube.client.request("POST", path, request);
  const { token } = z.object({ status: z.object({ token: z.string() }) }).parse(body).status;
  const config = z.looseObject({ contexts: z.tuple([z.object({ name: z.string(), context: z.record(z.string(), z.string()) })]) });
  const { contexts, ...rest } = config.parse(JSON.parse(kubeconfigOf({ ...kube.access, token })));
  const [{ name, context }] = contexts;
  return JSON.stringify({ ...rest, contexts: [{ name, context: { ...context, namespace: "headwater" } }] });
}

const conditions = z.object({
  metadata: z.object({ generation: z.number() }),
  status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string(), observedGeneration: z.number() })) }),
});

/** Its last change is in effect. */
async function untilReady(what: string): Promise<void> {
  const isReady = async (): Promise<boolean> => {
    const found = conditions.safeParse(await kube.objects.find(what, owned)).data;
    return (
      found?.status.conditions.some(
        ({ type, status, observedGeneration }) => type === "Ready" && status === "True" && observedGeneration === found.metadata.generation,
      ) === true
    );
  };
  await until(isReady, `${what} is ready`);
}

async function done<T>(method: string, path: string, body?: unknown): Promise<T> {
  const { status, body: answer } = await cluster.call<T>(method, path, body);
  expect(status, `${method} ${path}: ${JSON.stringify(answer)}`).toBeLessThan(300);
  return answer;
}

const create = async (path: string, body?: unknown): Promise<string> => (await done<Listed>("POST", path, body)).data.id;

const entrySchema = z.object({
  verb: z.string(),
  user: z.object({ username: z.string() }),
  objectRef: z
    .object({
      resource: z.string().default(""),
      apiGroup: z.string().optional(),
      subresource: z.string().optional(),
      namespace: z.string().optional(),
      name: z.string().optional(),
    })
    .optional(),
  responseStatus: z.object({ code: z.number().default(0) }).optional(),
  annotations: z.record(z.string(), z.string()).default({}),
});

/** The role that an account has in namespaces of owners. */
const ownersRoles: Readonly<Record<string, string>> = { operator: "owner-secrets", api: "owner-secrets-api", backup: "owner-backup" };

/** Requests of the accounts that the log shows, with the code of their response. */
function requests(): readonly { readonly right: string; readonly code: number }[] {
  const lines = readFileSync(auditLog, "utf8").split("\n");
  // The last line may be incomplete.
  return lines.slice(0, -1).flatMap((line) => {
    const { verb, user, objectRef, responseStatus } = entrySchema.parse(JSON.parse(line));
    const account = /^system:serviceaccount:headwater:headwater-(.+)$/.exec(user.username)?.[1];
    if (account === undefined || objectRef === undefined || responseStatus === undefined) return [];
    const { resource, apiGroup, subresource, namespace } = objectRef;
    const inRelease = namespace === "headwater";
    const isOfOwner = !inRelease && (resource === "secrets" || resource === "configmaps");
    const what = `${resource}${subresource === undefined ? "" : `/${subresource}`}${apiGroup === undefined ? "" : `.${apiGroup}`}`;
    const role = isOfOwner ? (ownersRoles[account] ?? account) : account;
    return [
      { right: describeRight({ role, where: inRelease ? "release" : "everywhere", verb, resource: what }), code: responseStatus.code },
    ];
  });
}

const used = (): ReadonlySet<string> => new Set(requests().flatMap(({ right, code }) => (code < 400 || code === 404 ? [right] : [])));
const refusals = (): readonly string[] => [...new Set(requests().flatMap(({ right, code }) => (code === 403 ? [right] : [])))];
