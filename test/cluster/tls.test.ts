import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { createAuthority } from "../support/certificate-authority.ts";
import { helm } from "../support/helm.ts";
import { hosts, natsPeer, peer, startInside, tlsValues, writeCertificates } from "./certificates.ts";
import {
  askProbe,
  deploy,
  exposeWebhook,
  install,
  isInstalled,
  makeNamespace,
  namespace,
  owned,
  podAddress,
  probeNamespace,
  removeInstallation,
  report,
  requestTrusting,
  startProbe,
  type Endpoint,
} from "./installation.ts";
import { kubectl, list } from "./kubectl.ts";

const [first, next] = [createAuthority("first"), createAuthority("next")];
const bothAuthorities = first.certificate + next.certificate;
const echo = `export default {
  name: "Echo",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run({ body }) {
    this.http.respond({ status: 200, body: "accepted" });
    this.$emit({ request: body.request });
  },
};`;

/** A new installation with certificates, which the test writes as cert-manager would. It may find data of a previous installation. */
describe("an installation with certificates", () => {
  let source: Endpoint;

  beforeAll(async () => {
    if (await isInstalled()) {
      await helm(["uninstall", "headwater", "--namespace", namespace, "--wait", "--timeout", "120s"]);
      await until(async () => (await list("deployments", "-n", namespace)).length === 0, "runner pods are deleted with the release");
    }
    await makeNamespace(namespace);
    await writeCertificates(first, "one", first.certificate);
    await startProbe("webhook", probeNamespace, { app: "webhook" });
    await exposeWebhook();
    await startInside();
    const ms = await install("install", ...tlsValues, "--set", `settings.egressAllow[1]=${await podAddress("webhook")}/32`);
    report(`helm install with certificates until everything is ready: ${(ms / 1_000).toFixed(1)} s`);
    source = await deploy("echo", echo);
    const common = { apiVersion: "headwater.dev/v1alpha1", metadata: { name: "echo", namespace: owned } };
    const webhook = { ...common, kind: "Webhook", spec: { url: `https://${hosts.webhook}:8443/events` } };
    const references = { emitterRef: { kind: "Source", name: "echo" }, listenerRef: { kind: "Webhook", name: "echo" } };
    await kubectl(
      ["apply", "-f", "-"],
      `${JSON.stringify(webhook)}\n---\n${JSON.stringify({ ...common, kind: "Subscription", spec: references })}`,
    );
    await kubectl(["-n", owned, "wait", "--for=condition=Ready", "subscription/echo", "--timeout=60s"]);
  });
  afterAll(removeInstallation);

  const received = async (): Promise<string> => JSON.stringify(await askProbe("/received", undefined, "webhook"));

  /** A request to the endpoint, and the event's delivery to the webhook. */
  async function expectDelivered(request: string): Promise<void> {
    const answer = await requestTrusting(bothAuthorities, source.endpoint, "POST", JSON.stringify({ request }));
    expect(answer).toMatchObject({ status: 200, text: "accepted" });
    await until(async () => (await received()).includes(request), "the webhook receives the event");
  }

  const names = async (): Promise<readonly string[]> =>
    (await Promise.all([peer(hosts.api, 443, bothAuthorities), peer(hosts.ingress, 443, bothAuthorities), natsPeer(bothAuthorities)])).map(
      ({ name, isTrusted }) => `${name} ${isTrusted ? "trusted" : "unknown"}`,
    );

  const restarts = async (): Promise<string> =>
    kubectl([
      "-n",
      namespace,
      "get",
      "pods",
      "-l",
      "app.kubernetes.io/name=headwater",
      "--field-selector=status.phase=Running",
      "-o",
      podsFormat,
    ]);

  it("runs a source behind an HTTPS endpoint and delivers its event to a webhook with a private authority", async () => {
    expect(source.endpoint).toMatch(/^https:\/\/headwater-ingress\.headwater\.svc\//);
    await expectDelivered("one");
  });

  it("has no plaintext except to its own Postgres", async () => {
    expect(await names()).toEqual(["one trusted", "one trusted", "one trusted"]);
    const nats = await natsPeer(first.certificate);
    expect(nats.protocol).toBe("TLSv1.3");
    expect(nats.greeting).toMatch(/"tls_required":true.*"tls_verify":true|"tls_verify":true.*"tls_required":true/);
    const plain = `http://${hosts.api}:443/healthz`;
    expect(await askProbe("/call", { url: plain })).toMatchObject({ status: 0 });
    const pods = await kubectl(["-n", namespace, "get", "deployments", "-o", "json"]);
    expect(pods.match(/(?<="HEADWATER_PLAINTEXT",\s*"value": )"[^"]*"/g)).toEqual(Array.from({ length: 5 }, () => `"postgres"`));
  });

  it("uses certificates and authorities that are rotated, in the running pods", async () => {
    const before = await restarts();
    await writeCertificates(next, "two", bothAuthorities);
    // The kubelet writes the files of a changed Secret within about a minute, and at once when the pod changes.
    await kubectl(["-n", namespace, "annotate", "pods", "--all", "test/rotated=yes"]);
    await kubectl(["-n", probeNamespace, "annotate", "pods", "--all", "test/rotated=yes"]);
    await until(async () => (await names()).every((name) => name === "two trusted"), "new connections get the new certificates");
    await until(async () => (await peer(hosts.webhook, 8443, next.certificate)).isTrusted, "the webhook has its new certificate");
    await expectDelivered("two");
    expect(await restarts()).toBe(before);
  });

  it("verifies the new certificate of NATS in connections that replace lost ones", async () => {
    const roles = async (): Promise<string> => (await restarts()).replace(/^headwater-nats.*$/m, "");
    const before = await roles();
    await kubectl(["-n", namespace, "delete", "pod", "headwater-nats-0"]);
    await kubectl(["-n", namespace, "rollout", "status", "statefulset/headwater-nats", "--timeout=120s"]);
    // If NATS is away for more than 10 s, no pod of the ingress is ready, and the Service refuses connections.
    const isAccepted = async (): Promise<boolean> =>
      (await requestTrusting(next.certificate, source.endpoint, "POST", JSON.stringify({ request: "three" }))).status === 200;
    await until(isAccepted, "the endpoint accepts requests again");
    await until(async () => (await received()).includes("three"), "the webhook receives the event");
    expect(await roles()).toBe(before);
    expect((await list("pods", "-n", namespace)).length).toBeGreaterThan(7);
  });
});

/** A line for each pod: its name, and how often its containers were restarted. */
const podsFormat = `jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[*].restartCount}{"\\n"}{end}`;
