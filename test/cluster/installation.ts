import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { z } from "zod";
import { chart, helm } from "../support/helm.ts";
import { until } from "../support/until.ts";
import { get, kubectl, list, tryKubectl } from "./kubectl.ts";

/** The release under test, and the pod within the cluster by which tests reach it. */
export const namespace = "headwater";
export const owned = "headwater-default";
export const probeNamespace = "headwater-test-probe";
const image = process.env["HEADWATER_TEST_IMAGE"] ?? "headwater:test";

/** A version of Headwater: its chart and its image. */
export interface Release {
  readonly chart: string;
  readonly image: string;
}
export const current: Release = { chart, image };
const previousImage = process.env["HEADWATER_TEST_PREVIOUS_IMAGE"];
const previousChart = process.env["HEADWATER_TEST_PREVIOUS_CHART"];
/** The version that `previous-version.test.ts` begins with; undefined: that story is skipped. */
export const previous: Release | undefined =
  previousImage === undefined || previousChart === undefined ? undefined : { chart: previousChart, image: previousImage };

/** Retries come soon, so that a test need not wait for minutes; everything is kept, so that it can be counted. */
async function values({ image }: Release): Promise<readonly string[]> {
  const at = image.lastIndexOf(":");
  const settings = {
    "image.repository": image.slice(0, at),
    "settings.egressAllow[0]": `${(await probeAddress()).split(":")[0]}/32`,
    "settings.environment.HEADWATER_DELIVERY_RETRY": "500ms\\,1s\\,2s\\,4s\\,8s\\,16s\\,32s",
    "runners.defaultPool.maxReplicas": "2",
    "runners.resources.requests.cpu": "50m",
  };
  const texts = {
    "image.tag": image.slice(at + 1),
    "settings.environment.HEADWATER_KEEP_EVENTS": "100000",
    "settings.environment.HEADWATER_RUN_TIMEOUT": "15",
  };
  return [
    ...Object.entries(settings).flatMap(([name, value]) => ["--set", `${name}=${value}`]),
    ...Object.entries(texts).flatMap(([name, value]) => ["--set-string", `${name}=${value}`]),
  ];
}

/** `helm install` or `helm upgrade` to the current version, until everything is ready. @returns ms that it took */
export const install = (verb: "install" | "upgrade", ...flags: readonly string[]): Promise<number> =>
  installRelease(current, verb, ...flags);

export async function installRelease(release: Release, verb: "install" | "upgrade", ...flags: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const common = ["--namespace", namespace, ...(await values(release)), "--wait", "--timeout", "240s"];
  const args = [verb, "headwater", release.chart, ...common, ...flags];
  const { code, stdout, stderr } = await helm(args);
  if (code !== 0) throw new Error(`helm ${verb}: ${stderr}${stdout}\n${await state()}`);
  await until(async () => (await list("runnerpool")).some(({ status }) => Number(status?.["readyReplicas"]) >= 1), "a runner is ready");
  return performance.now() - startedAt;
}

export const isInstalled = async (): Promise<boolean> =>
  (await tryKubectl(["-n", namespace, "get", "deployment", "headwater-api"])).code === 0;

/** Removes everything, as the documentation says. */
export async function removeInstallation(): Promise<void> {
  const kinds = "sources,subscriptions,autosubscriptions,webhooks,components,accounts,oauthclients,apps,variables,datastores,workflows";
  await kubectl(["delete", kinds, "--all", "--all-namespaces", "--timeout=120s"]);
  await kubectl(["delete", "runnerpools", "--all", "--timeout=120s"]);
  await helm(["uninstall", "headwater", "--namespace", namespace, "--wait", "--timeout", "120s"]);
  await kubectl(["delete", "namespace", namespace, owned, "--timeout=120s"], "", 130_000);
  await kubectl(["delete", "crd", "-l", "app.kubernetes.io/name=headwater", "--timeout=60s"]);
}

/** Prints a figure. */
export const report = (line: string): void => void process.stdout.write(`${line}\n`);

/** For people who read why a test failed. */
export async function state(): Promise<string> {
  const pods = await tryKubectl(["-n", namespace, "get", "pods", "-o", "wide"]);
  const events = await tryKubectl(["-n", namespace, "get", "events", "--sort-by=.lastTimestamp"]);
  return `${pods.stdout}\n${events.stdout.split("\n").slice(-15).join("\n")}`;
}

/** A namespace that takes restricted pods alone. */
export async function makeNamespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
  const metadata = { name, labels: { "pod-security.kubernetes.io/enforce": "restricted", ...labels } };
  await kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata }));
}

/** A pod of the image with a script in place of Headwater. */
function scriptPod(name: string, inNamespace: string, labels: Readonly<Record<string, string>>): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: inNamespace, labels },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "probe",
          image,
          command: ["node", "/probe/probe.mjs"],
          env: [{ name: "PROBE", valueFrom: { fieldRef: { fieldPath: "metadata.uid" } } }],
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
          readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
          volumeMounts: [
            { name: "probe", mountPath: "/probe" },
            { name: "tls", mountPath: "/tls" },
          ],
        },
      ],
      volumes: [
        { name: "probe", configMap: { name: "probe" } },
        // With it, the probe listens with HTTPS too.
        { name: "tls", secret: { secretName: "probe-tls", optional: true } },
      ],
    },
  };
}

export async function startProbe(
  name = "probe",
  inNamespace = probeNamespace,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (inNamespace === probeNamespace) await makeNamespace(probeNamespace);
  const data = { "probe.mjs": readFileSync(join(import.meta.dirname, "probe/probe.mjs"), "utf8") };
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "probe", namespace: inNamespace }, data };
  await kubectl(["apply", "-f", "-"], JSON.stringify(map));
  await kubectl(["apply", "-f", "-"], JSON.stringify(scriptPod(name, inNamespace, labels)));
  await kubectl(["-n", inNamespace, "wait", "--for=condition=Ready", `pod/${name}`, "--timeout=90s"]);
}

export const removeProbe = (): Promise<unknown> => tryKubectl(["delete", "namespace", probeNamespace, "--ignore-not-found"]);

export const podAddress = async (name: string): Promise<string> => String((await get("pod", name, probeNamespace)).status?.["podIP"]);
export const probeAddress = async (): Promise<string> => `${await podAddress("probe")}:8080`;

/** Gives the pod `webhook` a name that certificates can have. It leads to the pod's own address. */
export async function exposeWebhook(): Promise<void> {
  const metadata = { name: "webhook", namespace: probeNamespace };
  const spec = { clusterIP: "None", selector: { app: "webhook" }, ports: [{ port: 8443 }] };
  await kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Service", metadata, spec }));
}

/** Asks the probe, through the API server; tried again, since the API server may be away as part of a test. */
export async function askProbe(path: string, body?: unknown, name = "probe", inNamespace = probeNamespace): Promise<unknown> {
  const raw = `/api/v1/namespaces/${inNamespace}/pods/${name}:8080/proxy${path}`;
  const args = body === undefined ? ["get", "--raw", raw] : ["create", "--raw", raw, "-f", "-"];
  for (let attempt = 1; ; attempt++) {
    const { code, stdout, stderr } = await tryKubectl(args, body === undefined ? "" : JSON.stringify(body), 60_000);
    if (code === 0) return JSON.parse(stdout);
    if (attempt === 10) throw new Error(`the probe does not answer ${path}: ${stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 500 * attempt));
  }
}

const answerSchema = z.object({ status: z.number(), text: z.string(), ms: z.number() });
export type Answer = z.infer<typeof answerSchema>;

/** A request from within the cluster. */
export async function request(url: string, method = "GET", body?: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return answerSchema.parse(await askProbe("/call", { url, method, body, headers }));
}

/** The same with HTTPS. @param ca certificates of authorities */
export async function requestTrusting(ca: string, url: string, method: string, body: string): Promise<Answer> {
  return answerSchema.parse(await askProbe("/call", { url, method, body, ca, headers: { "content-type": "application/json" } }));
}

let key: string | undefined;

async function apiKey(): Promise<string> {
  key ??= Buffer.from(
    await kubectl(["-n", namespace, "get", "secret", "headwater-api-key", "-o", "jsonpath={.data.api-key}"]),
    "base64",
  ).toString();
  return key;
}

/** One call of the REST API as the first user. @param path below /v1 */
export async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = { authorization: `Bearer ${await apiKey()}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
  const url = `http://headwater-api.${namespace}.svc/v1${path}`;
  return request(url, method, body === undefined ? undefined : JSON.stringify(body), headers);
}

const created = z.object({ data: z.object({ id: z.string() }) });

/** Makes an organization of the first user that confirms the namespace. @returns its id, for the label of the namespace */
export async function newOwnerOf(name: string): Promise<string> {
  const { data } = created.parse(JSON.parse((await call("POST", "/orgs", { name, orgname: name, email: "team@example.com" })).text));
  expect((await call("POST", `/namespaces?org_id=${data.id}`, { name })).status).toBe(200);
  return data.id;
}

export interface Endpoint {
  readonly id: string;
  readonly name: string;
  readonly endpoint: string;
}

/** Applies a Source with this code and waits until it is ready. */
export async function deploy(name: string, code: string, more: object = {}, inNamespace = owned): Promise<Endpoint> {
  const source = {
    apiVersion: "headwater.dev/v1alpha1",
    kind: "Source",
    metadata: { name, namespace: inNamespace },
    spec: { code, ...more },
  };
  await kubectl(["apply", "-f", "-"], JSON.stringify(source));
  await kubectl(["-n", inNamespace, "wait", "--for=condition=Ready", `source/${name}`, "--timeout=90s"]);
  const { status } = await get("source", name, inNamespace);
  return { name, id: String(status?.["id"]), endpoint: String(status?.["endpoint"]) };
}
