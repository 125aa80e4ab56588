import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { findProgram, render, renderObjects } from "../support/helm.ts";

const missing = findProgram("helm") === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : "";
const encrypted = ["--values", join(import.meta.dirname, "values-tls.yaml")];
const ownServers = ["--values", join(import.meta.dirname, "values-external.yaml")];
const withoutTls = ["--set", "nats.tls.publicCa=false,postgres.tls.caSecret=,postgres.tls.clientSecret="];

describe.skipIf(missing !== "")(`TLS in the chart${missing}`, () => {
  const textOf = async (kind: string, name: string, ...flags: readonly string[]): Promise<string> =>
    JSON.stringify((await renderObjects(...flags)).find((object) => object.kind === kind && object.metadata.name === name));
  const settings = async (name: string, ...flags: readonly string[]): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries(
      [...(await textOf("Deployment", name, ...flags)).matchAll(/"name":"((?:HEADWATER|OTEL)_\w+)","value":"([^"]*)"/g)].map(
        ([, key, value]) => [key ?? "", value ?? ""],
      ),
    );

  it("allows plaintext to its own NATS and Postgres by default, in a value", async () => {
    expect((await settings("headwater-api"))["HEADWATER_PLAINTEXT"]).toBe("nats,postgres");
    expect((await settings("headwater-api", ...encrypted))["HEADWATER_PLAINTEXT"]).toBe("postgres");
    expect((await settings("headwater-api", ...ownServers))["HEADWATER_PLAINTEXT"]).toBeUndefined();
    const allowed = ["--set", "nats.plaintext=always,postgres.plaintext=always"];
    expect((await settings("headwater-api", ...ownServers, ...withoutTls, ...allowed))["HEADWATER_PLAINTEXT"]).toBe("nats,postgres");
  });

  it.each([
    [[...ownServers, "--set", "nats.tls.publicCa=false"], "nats.tls is needed"],
    [[...ownServers, "--set", "postgres.tls.caSecret=,postgres.tls.clientSecret="], "postgres.tls is needed"],
    [["--set", "nats.plaintext=never"], "nats.tls is needed"],
    [["--set", "postgres.plaintext=never"], "postgres.tls is needed"],
    [["--set", "postgres.tls.caSecret=ca"], "postgres.tls is for a Postgres of your own"],
    [["--set", "nats.tls.clientSecret=client"], "nats.tls.certificateSecret is needed"],
    [["--set", "nats.tls.caSecret=ca"], "nats.tls.certificateSecret is needed"],
    [["--set", "nats.tls.publicCa=true"], "nats.tls.certificateSecret is needed"],
    [
      [...ownServers, "--set", "nats.tls.publicCa=false,nats.plaintext=always,nats.tls.clientSecret=client"],
      "nats.tls.clientSecret needs nats.tls.caSecret",
    ],
    [[...ownServers, "--set", "postgres.tls.caSecret=,postgres.plaintext=always"], "postgres.tls.clientSecret needs postgres.tls.caSecret"],
    [["--set", "nats.plaintext=maybe"], "/nats/plaintext"],
  ])("refuses %j and names the value", async (flags, words) => {
    await expect(render(...flags)).rejects.toThrow(words);
  });

  it("receives emails only for a domain, with STARTTLS if there is a certificate", async () => {
    expect((await settings("headwater-ingress"))["HEADWATER_EMAIL_DOMAIN"]).toBeUndefined();
    expect(await textOf("Service", "headwater-email")).toBeUndefined();
    const flags = ["--set", "email.domain=in.example.com,email.certificateSecret=mx,email.service.type=LoadBalancer"];
    const [ingress, operator, delivery] = await Promise.all(
      ["ingress", "operator", "delivery"].map((role) => settings(`headwater-${role}`, ...flags)),
    );
    expect(ingress).toMatchObject({ HEADWATER_EMAIL_DOMAIN: "in.example.com", HEADWATER_EMAIL_CERTIFICATE: "/tls/email/tls.crt" });
    expect(operator?.["HEADWATER_EMAIL_DOMAIN"]).toBe("in.example.com");
    expect(delivery?.["HEADWATER_EMAIL_DOMAIN"]).toBeUndefined();
    expect(await textOf("Service", "headwater-email", ...flags)).toContain('"targetPort":"smtp"');
    expect(await textOf("NetworkPolicy", "headwater-ingress", ...flags)).toContain('"port":"smtp"');
    const limited = await textOf(
      "NetworkPolicy",
      "headwater-ingress",
      ...flags,
      "--set-json",
      'email.clients=[{"ipBlock":{"cidr":"10.0.0.1/32"}}]',
    );
    expect(limited).toContain("10.0.0.1/32");
  });

  it("lets the ingress reach the DNS of the cluster, and other servers that it checks senders with", async () => {
    const flags = ["--set", "email.domain=in.example.com,settings.environment.HEADWATER_EMAIL_DNS=10.0.0.53"];
    expect((await settings("headwater-ingress", ...flags))["HEADWATER_EMAIL_DNS"]).toBe("10.0.0.53");
    const policy = (...more: readonly string[]) => textOf("NetworkPolicy", "headwater-ingress", ...flags, ...more);
    const without = await policy();
    expect(without).toContain('"port":53');
    expect(without).not.toContain("10.0.0.53/32");
    const peers = '[{"ipBlock":{"cidr":"10.0.0.53/32"}}]';
    expect(await policy("--set-json", `email.dnsPeers=${peers}`)).toContain(`"to":${peers}`);
  });

  it("mounts in each role only the Secrets that it uses, and no key of a server that is not its own", async () => {
    const mounted = async (name: string): Promise<readonly string[]> => {
      const text = await textOf("Deployment", name, ...encrypted);
      return text.match(/(?<="path":")[^"]+(?="\})/g) ?? [];
    };
    const nats = ["nats/ca.crt", "nats/tls.crt", "nats/tls.key"];
    const served = ["server/tls.crt", "server/tls.key"];
    expect(await mounted("headwater-api")).toEqual([...nats, "traces/ca.crt", ...served]);
    expect(await mounted("headwater-ingress")).toEqual([...nats, "traces/ca.crt", ...served]);
    const privateAuthorities = ["webhooks/ca.crt", "mail/ca.crt", "objects/ca.crt", "traces/ca.crt"];
    expect(await mounted("headwater-delivery")).toEqual([...nats, ...privateAuthorities]);
    expect(await mounted("headwater-builder")).toEqual([...nats, "traces/ca.crt"]);
    const text = await textOf("Deployment", "headwater-builder", ...encrypted);
    expect(text).toContain(`{"secret":{"items":[{"key":"ca.crt","path":"nats/ca.crt"}],"name":"headwater-nats-tls"}}`);
  });

  it("verifies clients and other servers of NATS by the authorities of a Secret of their own, if there is one", async () => {
    const authority = async (...flags: readonly string[]): Promise<unknown> =>
      /"name":"([^"]+)","items":\[\{"key":"ca.crt"|"items":\[\{"key":"ca.crt","path":"ca.crt"\}\],"name":"([^"]+)"/
        .exec(await textOf("StatefulSet", "headwater-nats", ...encrypted, ...flags))
        ?.slice(1)
        .find((name) => name !== undefined);
    expect(await authority()).toBe("headwater-nats-tls");
    expect(await authority("--set", "nats.tls.caSecret=bundle")).toBe("bundle");
  });

  it("names the files of private authorities in the settings of the roles and of runners", async () => {
    expect(await settings("headwater-delivery", ...encrypted)).toMatchObject({
      HEADWATER_WEBHOOK_CA: "/tls/webhooks/ca.crt",
      HEADWATER_SMTP_CA: "/tls/mail/ca.crt",
      HEADWATER_S3_CA: "/tls/objects/ca.crt",
      OTEL_EXPORTER_OTLP_CERTIFICATE: "/tls/traces/ca.crt",
    });
    const { data } = z
      .object({ data: z.record(z.string(), z.string()) })
      .parse(JSON.parse(await textOf("ConfigMap", "headwater-runner-pods", ...encrypted)));
    expect(Object.values(data).join()).toContain(`"caSecret":"traces-ca"`);
    const unused = ["--set", "mail.smtpUrlSecret=,objects.s3UrlSecret=,traces.endpoint="];
    expect(Object.keys(await settings("headwater-delivery", ...encrypted, ...unused)).join()).not.toMatch(/SMTP|S3|OTLP/);
  });

  it("gives setup and the roles the files of a Postgres of your own, and runners and the ingress none", async () => {
    const objects = (await renderObjects(...ownServers)).filter(({ kind }) => kind === "Deployment" || kind === "Job");
    const using = objects.filter((object) => JSON.stringify(object).includes(`"HEADWATER_DATABASE_CA","value":"/tls/postgres/ca.crt"`));
    const names = using.map(({ metadata }) => metadata.name.replace(/^headwater-/, "").replace(/^setup-.*/, "setup"));
    expect(names.toSorted()).toEqual(["api", "delivery", "operator", "setup"]);
    for (const object of using) expect(JSON.stringify(object)).toContain(`"mountPath":"/tls"`);
  });

  it("derives https addresses and names of ports from the certificates of the API and the endpoints", async () => {
    const flags = [...encrypted, "--set", "api.service.port=8443"];
    expect(await settings("headwater-api", ...flags, "--set", "kubernetesIngress.enabled=false")).toMatchObject({
      HEADWATER_PUBLIC_URL: "https://headwater-api.headwater.svc:8443",
      HEADWATER_INGRESS_URL: "https://headwater-ingress.headwater.svc",
    });
    expect(await textOf("Service", "headwater-ingress", ...flags)).toContain(`"appProtocol":"https"`);
    expect(await textOf("Ingress", "headwater", ...flags)).toContain(`"port":{"name":"https"}`);
  });
});
