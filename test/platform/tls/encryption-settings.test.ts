import { describe, expect, it } from "vitest";
import { childEnvironment } from "../../../platform/process/child-role.ts";
import { parseConfiguration } from "../../../platform/process/settings/configuration.ts";

const inCluster = { HEADWATER_RESOURCES: "kubernetes" };
const nats = { NATS_URL: "nats://nats.messaging:4222" };
const postgres = { DATABASE_URL: "postgres://user:password@db.example.com/headwater" };

describe("settings of TLS", () => {
  it.each([
    [nats, /^NATS_URL is on another machine, without TLS: set HEADWATER_NATS_CA, or HEADWATER_PLAINTEXT=nats/],
    [{ NATS_URL: "nats://127.0.0.1:4222,nats://10.0.0.7:4222" }, /^NATS_URL is on another machine/],
    [postgres, /^DATABASE_URL is on another machine, without verified TLS/],
    [{ DATABASE_URL: `${postgres.DATABASE_URL}?sslmode=disable` }, /^DATABASE_URL is on another machine/],
    [{ DATABASE_URL: `${postgres.DATABASE_URL}?sslmode=no-verify` }, /^DATABASE_URL is on another machine/],
    [{ ...nats, HEADWATER_PLAINTEXT: "postgres" }, /^NATS_URL is on another machine/],
  ])("refuses plaintext to another machine in a cluster: %j", (env, sentence) => {
    expect(() => parseConfiguration({ ...inCluster, ...env })).toThrow(sentence);
    expect(() => parseConfiguration(env)).not.toThrow();
  });

  it.each([
    { ...nats, HEADWATER_NATS_CA: "/tls/ca.crt" },
    { ...nats, HEADWATER_NATS_CA: "public" },
    { NATS_URL: "tls://nats.example.com:4222" },
    { ...nats, HEADWATER_PLAINTEXT: "nats" },
    { ...nats, ...postgres, HEADWATER_PLAINTEXT: "nats, postgres" },
    { NATS_URL: "nats://[::1]:4222,localhost:4223", DATABASE_URL: "postgres://user@127.0.0.2/headwater" },
    { DATABASE_URL: "postgres://user@db.example.com/headwater?host=/run/postgres" },
    { DATABASE_URL: `${postgres.DATABASE_URL}?sslmode=verify-full` },
    {
      ...postgres,
      HEADWATER_DATABASE_CA: "/tls/ca.crt",
      HEADWATER_DATABASE_CERTIFICATE: "/tls/tls.crt",
      HEADWATER_DATABASE_KEY: "/tls/tls.key",
    },
  ])("starts in a cluster with TLS, with a server on the same machine, or if plaintext is allowed: %j", (env) => {
    expect(() => parseConfiguration({ ...inCluster, ...env })).not.toThrow();
  });

  it.each([
    [
      { ...nats, HEADWATER_NATS_CA: "ca", HEADWATER_NATS_CERTIFICATE: "crt" },
      /HEADWATER_NATS_CERTIFICATE is set, but HEADWATER_NATS_KEY is not/,
    ],
    [{ HEADWATER_EMAIL_DOMAIN: "a.b", HEADWATER_EMAIL_KEY: "key" }, /HEADWATER_EMAIL_KEY is set, but HEADWATER_EMAIL_CERTIFICATE is not/],
    [{ HEADWATER_EMAIL_CERTIFICATE: "crt", HEADWATER_EMAIL_KEY: "key" }, /HEADWATER_EMAIL_CERTIFICATE is set, but HEADWATER_EMAIL_DOMAIN/],
    [{ HEADWATER_SERVER_KEY: "key" }, /HEADWATER_SERVER_KEY is set, but HEADWATER_SERVER_CERTIFICATE is not/],
    [{ ...postgres, HEADWATER_DATABASE_CERTIFICATE: "crt", HEADWATER_DATABASE_KEY: "key" }, /HEADWATER_DATABASE_CA is not/],
    [
      { ...nats, HEADWATER_NATS_CERTIFICATE: "crt", HEADWATER_NATS_KEY: "key", HEADWATER_PLAINTEXT: "nats" },
      /HEADWATER_NATS_CERTIFICATE is set, but .* set HEADWATER_NATS_CA/,
    ],
    [{ HEADWATER_NATS_CA: "ca" }, /HEADWATER_NATS_CA is set, but NATS_URL is not/],
    [{ HEADWATER_SMTP_CA: "ca" }, /HEADWATER_SMTP_CA is set, but HEADWATER_SMTP_URL is not/],
    [{ HEADWATER_S3_CA: "ca" }, /HEADWATER_S3_CA is set, but HEADWATER_S3_URL is not/],
    [{ OTEL_EXPORTER_OTLP_CERTIFICATE: "ca" }, /OTEL_EXPORTER_OTLP_CERTIFICATE is set, but OTEL_EXPORTER_OTLP_ENDPOINT is not/],
    [
      { DATABASE_URL: `${postgres.DATABASE_URL}?sslmode=disable`, HEADWATER_DATABASE_CA: "ca" },
      /sslmode=disable, but HEADWATER_DATABASE_CA/,
    ],
    [{ HEADWATER_PLAINTEXT: "redis" }, /'redis' is unknown: use nats, postgres, or both/],
  ])("refuses settings that contradict each other: %j", (env, sentence) => {
    expect(() => parseConfiguration(env)).toThrow(sentence);
  });

  it("trusts the public authorities with `public` and with tls://", () => {
    const trusted = { ca: undefined, certificate: undefined, key: undefined };
    expect(parseConfiguration({ ...nats, HEADWATER_NATS_CA: "public" }).natsTls).toEqual(trusted);
    expect(parseConfiguration({ NATS_URL: "tls://nats.example.com" }).natsTls).toEqual(trusted);
    expect(parseConfiguration({ ...postgres, HEADWATER_DATABASE_CA: "public" }).databaseTls).toEqual(trusted);
    expect(parseConfiguration({ ...nats, ...postgres })).toMatchObject({ natsTls: undefined, databaseTls: undefined });
  });

  it("derives https addresses from a server certificate", () => {
    const env = { HEADWATER_SERVER_CERTIFICATE: "crt", HEADWATER_SERVER_KEY: "key" };
    expect(parseConfiguration(env)).toMatchObject({ publicUrl: "https://127.0.0.1:3000", ingressUrl: "https://127.0.0.1:3001" });
  });

  it("gives a runner the files of NATS and none of Postgres, and the ingress the key of its server as well", () => {
    const env = { HEADWATER_NATS_CA: "ca", HEADWATER_DATABASE_CA: "ca", HEADWATER_DATABASE_KEY: "key", HEADWATER_SERVER_KEY: "key" };
    const given = (role: "runner" | "ingress") =>
      Object.keys(childEnvironment({ role, nats: { servers: "nats://nats:4222" }, env })).filter((name) => /_(CA|KEY)$/.test(name));
    expect(given("runner")).toEqual(["HEADWATER_NATS_CA"]);
    expect(given("ingress")).toEqual(["HEADWATER_NATS_CA", "HEADWATER_SERVER_KEY"]);
  });
});
