import { z } from "zod";
import type { Issued, TestAuthority } from "../support/certificate-authority.ts";
import { askProbe, namespace, probeNamespace, startProbe } from "./installation.ts";
import { kubectl } from "./kubectl.ts";

/** Values of an installation whose connections are encrypted, except those to its own Postgres, which has no TLS. */
export const tlsValues: readonly string[] = Object.entries({
  "nats.plaintext": "never",
  "nats.tls.certificateSecret": "headwater-nats-tls",
  "nats.tls.clientSecret": "headwater-client-tls",
  "api.tlsSecret": "headwater-api-tls",
  "api.service.port": "443",
  "ingress.tlsSecret": "headwater-ingress-tls",
  "ingress.service.port": "443",
  "webhooks.caSecret": "internal-ca",
}).flatMap(([name, value]) => ["--set", `${name}=${value}`]);

export const hosts = {
  nats: `headwater-nats.${namespace}.svc`,
  api: `headwater-api.${namespace}.svc`,
  ingress: `headwater-ingress.${namespace}.svc`,
  webhook: `webhook.${probeNamespace}.svc`,
};

/** Writes the Secrets of the values above and of a webhook, as cert-manager does. @param trusted certificates of authorities */
export async function writeCertificates(authority: TestAuthority, name: string, trusted: string): Promise<void> {
  const secret = (secretName: string, inNamespace: string, issued: Issued): object => ({
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/tls",
    metadata: { name: secretName, namespace: inNamespace },
    stringData: { "tls.crt": issued.certificate, "tls.key": issued.key, "ca.crt": trusted },
  });
  const issue = (...names: readonly string[]): Issued => authority.issue({ name, hosts: names });
  const objects = [
    secret("headwater-nats-tls", namespace, issue(hosts.nats, `*.headwater-nats-servers.${namespace}.svc`, "localhost")),
    secret("headwater-client-tls", namespace, issue("headwater")),
    secret("headwater-api-tls", namespace, issue(hosts.api)),
    secret("headwater-ingress-tls", namespace, issue(hosts.ingress)),
    secret("probe-tls", probeNamespace, issue(hosts.webhook)),
    { apiVersion: "v1", kind: "Secret", metadata: { name: "internal-ca", namespace }, stringData: { "ca.crt": trusted } },
  ];
  await kubectl(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
}

const peerSchema = z.object({ name: z.string(), isTrusted: z.boolean(), protocol: z.string(), greeting: z.string() });

/** What a server presents to a new connection from within the cluster. */
export async function peer(host: string, port: number, ca: string): Promise<z.infer<typeof peerSchema>> {
  return peerSchema.parse(await askProbe("/peer", { host, port, ca }));
}

/** The same of NATS, which sends a greeting first, and which pods of the release may reach. {@link startInside} creates one. */
export async function natsPeer(ca: string): Promise<z.infer<typeof peerSchema>> {
  return peerSchema.parse(await askProbe("/peer", { host: hosts.nats, port: 4222, ca, greets: true }, "inside", namespace));
}

/** A pod with the labels of a runner. */
export const startInside = (): Promise<void> =>
  startProbe("inside", namespace, {
    "app.kubernetes.io/instance": "headwater",
    "app.kubernetes.io/component": "runner",
    "headwater.dev/pool": "default",
  });
