import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditEntrySchema } from "../../api/audit/schemas.ts";
import { withKubeApi } from "../support/kube/kube-api.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster } from "./support/cluster.ts";
import { until } from "./support/headwater.ts";

/** Each role is a process, on a real kube-apiserver, which kubectl and plain clients change. The server sends its audit events to the API. */
const directory = await temporaryDirectory("audited-cluster");
const adminToken = "an-admin-token-of-many-characters-0123456789";
const relay = await startRelay();
const kube = await withKubeApi({ own: true, flags: await auditFlags() });
const missing = kube.missing ?? (kube.hasKubectl ? undefined : "kubectl was not found");
const suite = missing === undefined ? describe : describe.skip;
const owner = "u_localuser";
const base = "/apis/headwater.dev/v1alpha1";
const secret = "s3cret-value-of-a-prop";

let cluster: Cluster;
let namespace = "";

const as = (user: string): readonly string[] => [`--as=${user}`, "--as-group=system:masters"];
const [jane, argocd] = [as("jane"), as("argocd")];

interface Page {
  readonly data: unknown;
  readonly page_info: { readonly total_count: number; readonly end_cursor: string | null };
}

const list = async (query = "actor=kubectl") => (await cluster.call<Page>("GET", `/audit_log?limit=100&${query}`)).body;
const entries = async (query?: string) => auditEntrySchema.array().parse((await list(query)).data);
const count = async (query?: string): Promise<number> => (await list(query)).page_info.total_count;
/** `<manager> <action> <kind> <name> <fields>`, oldest first. */
const lines = async (query?: string): Promise<readonly string[]> =>
  (await entries(query))
    .map(({ actor, action, kind, resource_name: name, fields }) =>
      [actor.field_manager ?? "-", action, kind, name, fields.join(",")].join(" "),
    )
    .toReversed();
const recorded = async (expected: readonly string[], query?: string): Promise<void> => {
  await until(async () => (await count(query)) >= expected.length, `${expected.length} entries`).catch(() => undefined);
  expect(await lines(query)).toEqual(expected);
};

async function kubectl(args: readonly string[], input?: object): Promise<void> {
  const { code, stderr } = await kube.kubectl([...args, "-n", namespace], input === undefined ? undefined : JSON.stringify(input));
  expect(code, stderr).toBe(0);
}

const resource = (kind: string, name: string, spec: object, into = namespace) => ({
  apiVersion: "headwater.dev/v1alpha1",
  kind,
  metadata: { name, namespace: into },
  spec,
});
const webhook = (name: string, more: object = {}) => resource("Webhook", name, { url: `https://${name}.example.com/`, ...more });
const webhookPath = (name: string): string => `${base}/namespaces/${namespace}/webhooks/${name}`;
const idOf = async (name: string): Promise<string> => {
  const { status } = (await kube.objects.find(`webhook ${name}`, namespace)) as { readonly status?: { readonly id?: string } };
  return status?.id ?? "";
};

/** The API server starts before the API: this address forwards to it. */
async function startRelay() {
  const server = createServer((request, response) => {
    void forward(request).then(
      (status) => response.writeHead(status).end(),
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // Listening on TCP.
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

async function forward(request: IncomingMessage): Promise<number> {
  // The API server sends the token of its file over TLS only.
  const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
  const response = await fetch(`${cluster.apiUrl}${request.url}`, { method: "POST", headers, body: await text(request) });
  return response.status;
}

async function auditFlags(): Promise<readonly string[]> {
  const config = join(directory.path, "audit-webhook.json");
  const named = (name: string, more: object) => [{ name, ...more }];
  await writeFile(
    config,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: named("headwater", { cluster: { server: `${relay.url}/admin/v1/kubernetes_audit_events` } }),
      contexts: named("headwater", { context: { cluster: "headwater", user: "" } }),
      "current-context": "headwater",
    }),
  );
  const policy = join(import.meta.dirname, "support/audit-policy.yaml");
  return [`--audit-policy-file=${policy}`, `--audit-webhook-config-file=${config}`, "--audit-webhook-batch-max-wait=1s"];
}

suite(`changes by kubectl${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  beforeAll(async () => {
    namespace = await kube.namespace({ "headwater.dev/owner": owner });
    const tokenFile = join(directory.path, "admin-token");
    await writeFile(tokenFile, adminToken, { mode: 0o600 });
    cluster = await startCluster(directory.path, {
      kubeconfig: kube.kubeconfigPath,
      envOf: { api: { HEADWATER_ADMIN_TOKEN_FILE: tokenFile } },
    });
  });
  afterAll(async () => {
    await cluster?.stop();
    relay.close();
    await directory.remove();
  });

  test("are listed with client, action and fields, as two users make them", async () => {
    await kubectl(["apply", ...jane, "-f", "-"], webhook("orders"));
    await until(async () => (await idOf("orders")) !== "", "the webhook has an id");
    await kubectl(["apply", ...argocd, "--server-side", "--field-manager=argocd-controller", "-f", "-"], webhook("synced"));
    const editor = join(directory.path, "editor.sh");
    await writeFile(editor, `#!/bin/sh\nsed -i 's|https://orders.example.com/|https://edited.example.com/|' "$1"\n`, { mode: 0o700 });
    process.env["KUBE_EDITOR"] = editor;
    await kubectl(["edit", ...jane, "webhook", "orders"]);
    await kubectl(["label", ...jane, "webhook", "orders", "team=red"]);
    await kubectl(["delete", ...argocd, "webhook", "synced", "--wait=false"]);
    await recorded([
      "kubectl-client-side-apply create Webhook orders active,signingKeys,url",
      "argocd-controller create Webhook synced active,signingKeys,url",
      "kubectl-edit update Webhook orders url",
      "kubectl-label update Webhook orders labels",
      "- delete Webhook synced ",
    ]);
    const [oldest] = (await entries()).toReversed();
    expect(oldest).toMatchObject({ owner_id: owner, operation: null, resource_id: await idOf("orders"), actor: { kind: "kubectl" } });
    expect(Math.abs((oldest?.at ?? 0) - Date.now() / 1_000)).toBeLessThan(600);
  });

  test("name the user once the API server has sent its audit events", async () => {
    const users = async () => (await entries()).map(({ actor }) => actor.kubernetes_user).toReversed();
    const expected = ["jane", "argocd", "jane", "jane", "argocd"];
    await until(async () => isDeepStrictEqual(await users(), expected), "the users").catch(() => undefined);
    expect(await users()).toEqual(expected);
    expect(await count("actor=jane")).toBe(3);
  });

  test("are found by the filters of the list", async () => {
    expect(await lines("actor=kubectl-edit")).toEqual(["kubectl-edit update Webhook orders url"]);
    expect(await count(`resource_id=${await idOf("orders")}`)).toBe(3);
    expect(await count("kind=Source")).toBe(0);
  });

  test("include the removal of a field, of which Kubernetes records no client", async () => {
    const id = await idOf("orders");
    await cluster.call("PUT", `/webhooks/${id}`, { name: "Orders" });
    const removal = [{ op: "remove", path: "/spec/name" }];
    const type = { "content-type": "application/json-patch+json" };
    expect((await kube.client.request("PATCH", `${webhookPath("orders")}?fieldManager=kubectl-patch`, removal, type)).status).toBe(200);
    await until(async () => (await count(`resource_id=${id}&actor=kubectl`)) >= 4, "the removal");
    expect((await lines(`resource_id=${id}&actor=kubectl`)).slice(3)).toEqual(["- update Webhook orders name"]);
  });

  test("do not include what the API and the operator change", async () => {
    const before = await count();
    const { id } = (await cluster.call<{ data: { id: string } }>("POST", "/webhooks", { url: "https://rest.example.com/", name: "rest" }))
      .body.data;
    for (const body of [{ active: false }, { active: true, name: "renamed" }, { name: null }])
      await cluster.call("PUT", `/webhooks/${id}`, body);
    const code = `export default { name: "Rest", props: { token: { type: "string", optional: true } }, async run() {} };`;
    const made = await cluster.call<{ data: { id: string } }>("POST", "/sources", {
      component_code: code,
      configured_props: { token: secret },
    });
    const source = made.body.data.id;
    await cluster.call("PUT", `/sources/${source}`, { configured_props: {} });
    expect((await cluster.call("DELETE", `/sources/${source}`)).status).toBe(204);
    expect((await cluster.call("DELETE", `/webhooks/${id}`)).status).toBe(204);
    // A later change of another client is recorded after all of these.
    await kubectl(["apply", "-f", "-"], webhook("later"));
    await until(async () => (await count()) > before, "the later change");
    expect((await lines()).slice(before)).toEqual(["kubectl-client-side-apply create Webhook later active,signingKeys,url"]);
  });

  test("are recorded once although the operator is killed, also those that it did not see", async () => {
    const before = await lines();
    const killed = cluster.kill("operator");
    await kubectl(["apply", "-f", "-"], webhook("unseen"));
    await kubectl(["delete", "webhook", "later", "--wait=false"]);
    await killed;
    const missed = ["kubectl-client-side-apply create Webhook unseen active,signingKeys,url", "- delete Webhook later "];
    await until(async () => (await count()) >= before.length + 2, "both changes");
    await cluster.kill("operator");
    await kubectl(["apply", "-f", "-"], webhook("last"));
    await until(async () => (await lines()).some((line) => line.includes(" last ")), "the change after the second start");
    expect((await lines()).toSorted()).toEqual(
      [...before, ...missed, "kubectl-client-side-apply create Webhook last active,signingKeys,url"].toSorted(),
    );
  });

  test("are complete: each of 1,000 changes by two clients has an entry", async () => {
    const type = { "content-type": "application/merge-patch+json" };
    for (let n = 0; n < 1_000; n++) {
      const path = `${webhookPath("last")}?fieldManager=${n % 2 === 0 ? "flux" : "script"}`;
      const { status } = await kube.client.request("PATCH", path, { spec: { url: `https://last.example.com/${n}` } }, type);
      expect(status).toBe(200);
    }
    const id = await idOf("last");
    await until(async () => (await count(`resource_id=${id}`)) >= 1_001, "1,001 entries");
    expect(await count(`resource_id=${id}`)).toBe(1_001);
    expect(await count("actor=flux")).toBeGreaterThan(0);
  });

  test("are visible to their owner only, and contain no values", async () => {
    const others = await kube.namespace({ "headwater.dev/owner": "u_another" });
    await kube.objects.apply(
      JSON.stringify(resource("Webhook", "theirs", { url: `https://theirs.example.com/${secret}` }, others)),
      others,
    );
    await kubectl(["apply", "-f", "-"], webhook("mine", { url: `https://mine.example.com/${secret}` }));
    await until(async () => (await lines()).some((line) => line.includes(" mine ")), "the owner's change");
    expect((await lines()).filter((line) => line.includes("theirs"))).toEqual([]);
    expect(JSON.stringify(await list(""))).not.toContain(secret);
  });
});
