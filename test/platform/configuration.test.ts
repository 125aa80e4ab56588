import { describe, expect, it } from "vitest";
import { childEnvironment } from "../../platform/process/child-role.ts";
import { describeConfiguration, parseConfiguration, roleNames } from "../../platform/process/settings/configuration.ts";

describe("parseConfiguration", () => {
  it("has a default for each setting that an embedded start needs", () => {
    expect(parseConfiguration({})).toMatchObject({
      roles: roleNames,
      listen: { host: "127.0.0.1", port: 3000 },
      ingressListen: { host: "127.0.0.1", port: 3001 },
      dataDirectory: ".headwater",
      egressAllow: [],
      syncInterval: "always",
      runTimeoutMs: 300_000,
      httpBodyLimitBytes: 524_288,
      httpUploadLimitBytes: 104_857_600,
      keepEvents: 100,
      natsUrl: undefined,
    });
  });

  it("treats an empty variable as unset", () => {
    expect(parseConfiguration({ HEADWATER_KEEP_EVENTS: "", HEADWATER_PUBLIC_URL: "" })).toEqual(parseConfiguration({}));
  });

  it.each([
    ["0.0.0.0:80", { host: "0.0.0.0", port: 80 }],
    [":8080", { host: "0.0.0.0", port: 8080 }],
    ["[::1]:0", { host: "::1", port: 0 }],
    ["localhost:3000", { host: "localhost", port: 3000 }],
  ])("listens at %s", (text, expected) => {
    expect(parseConfiguration({ HEADWATER_LISTEN: text }).listen).toEqual(expected);
  });

  it("returns the address of its own listener unless an address is configured", () => {
    const env = { HEADWATER_LISTEN: "[::1]:3000", HEADWATER_INGRESS_LISTEN: "localhost:3001" };
    expect(parseConfiguration(env)).toMatchObject({ publicUrl: "http://[::1]:3000", ingressUrl: "http://localhost:3001" });
  });

  it("starts roles in the order of the table, each once", () => {
    expect(parseConfiguration({ HEADWATER_ROLES: "runner, api,api" }).roles).toEqual(["api", "runner"]);
  });

  it.each([
    ["setup", { roles: [], setsUp: true, backsUp: false }],
    ["backup", { roles: [], setsUp: false, backsUp: true }],
  ])("starts no role for the task %s", (HEADWATER_ROLES, expected) => {
    expect(parseConfiguration({ HEADWATER_ROLES })).toMatchObject(expected);
  });

  it("parses durations with units, networks and addresses", () => {
    const read = parseConfiguration({
      HEADWATER_DELIVERY_RETRY: "250ms,5s,2m,1h",
      HEADWATER_WEBHOOK_DISABLE_AFTER: "36h",
      HEADWATER_EGRESS_ALLOW: "10.0.0.0/8, fd00::/8",
      HEADWATER_EGRESS_SERVER: "[fd00::7]:443",
      HEADWATER_PUBLIC_URL: "https://example.com/",
    });
    expect(read.egressServer).toEqual({ host: "fd00::7", port: 443 });
    expect(read.deliveryRetryMs).toEqual([250, 5_000, 120_000, 3_600_000]);
    expect(read.webhookDisableAfterMs).toBe(36 * 3_600_000);
    expect([{}, { HEADWATER_WEBHOOK_DISABLE_AFTER: "never" }].map((env) => parseConfiguration(env).webhookDisableAfterMs)).toEqual([
      5 * 86_400_000,
      undefined,
    ]);
    expect(read.egressAllow).toEqual(["10.0.0.0/8", "fd00::/8"]);
    expect(read.publicUrl).toBe("https://example.com");
  });

  it.each([
    [{ HEADWATER_LISTEN: "3000" }, "HEADWATER_LISTEN '3000' is invalid: must be host:port"],
    [{ HEADWATER_LISTEN: "a:99999" }, "must be host:port with a port of 0 to 65535"],
    [{ HEADWATER_RUN_TIMEOUT: "0" }, "HEADWATER_RUN_TIMEOUT '0' is invalid: must be 1 to 3600"],
    [{ HEADWATER_RUN_TIMEOUT: "5m" }, "must be a whole number"],
    [{ HEADWATER_EGRESS_ALLOW: "10.0.0.0/33" }, "must be networks such as"],
    [{ HEADWATER_TRUSTED_PROXIES: "10.0.0.1" }, "must be networks such as 10.0.0.0/8,fd00::/8, or a number of proxies"],
    [{ HEADWATER_TRUSTED_PROXIES: "1,10.0.0.0/8" }, "must be networks such as"],
    [{ HEADWATER_ROLES: "api,worker" }, "'worker' is not a role: use"],
    [{ HEADWATER_PUBLIC_URL: "ftp://x" }, "must be an http or https address"],
    [{ HEADWATER_DELIVERY_RETRY: "5" }, "must be waits such as 5s"],
    [{ HEADWATER_DELIVERY_PROXY: "proxy:3128" }, "HEADWATER_DELIVERY_PROXY is invalid: must be an http or https address"],
    [
      { HEADWATER_SMTP_URL: "http://x", HEADWATER_MAIL_FROM: "a@b.c" },
      "HEADWATER_SMTP_URL is invalid: must be smtp://user:password@host:port",
    ],
    [{ HEADWATER_SMTP_URL: "smtp://mail" }, "HEADWATER_MAIL_FROM is missing"],
    [{ HEADWATER_MAIL_FROM: "a@b.c, d@e.f" }, "HEADWATER_MAIL_FROM 'a@b.c, d@e.f' is invalid: must be an address"],
    [{ HEADWATER_WEBHOOK_DISABLE_AFTER: "5" }, "must be a wait such as 12h or 5d, or never"],
    [{ HEADWATER_LISTN: "x" }, "HEADWATER_LISTN is not a setting: did you mean HEADWATER_LISTEN?"],
    [{ HEADWATER_COMPLETELY_DIFFERENT_NAME: "x" }, "--help lists all settings"],
  ])("refuses %o", (env, message) => {
    expect(() => parseConfiguration(env)).toThrow(message);
  });

  it.each(["localhost:80", ":80", "0.0.0.0:80", "[::]:80", "[::ffff:0.0.0.0]:80", "10.0.0.1", "10.0.0.1:0"])(
    "refuses %j as a server that components may reach",
    (HEADWATER_EGRESS_SERVER) => {
      const message = `HEADWATER_EGRESS_SERVER '${HEADWATER_EGRESS_SERVER}' is invalid: must be an IP address of one server`;
      expect(() => parseConfiguration({ HEADWATER_EGRESS_SERVER })).toThrow(message);
    },
  );

  it.each([
    [undefined, { networks: [] }],
    ["10.0.0.0/8, fd00::/8", { networks: ["10.0.0.0/8", "fd00::/8"] }],
    ["2", { hops: 2 }],
  ])("parses trusted proxies %j as networks or as their number", (given, expected) => {
    expect(parseConfiguration(given === undefined ? {} : { HEADWATER_TRUSTED_PROXIES: given }).trustedProxies).toEqual(expected);
  });

  it("names all mistakes at once, without the values of secrets", () => {
    const env = { DATABASE_URL: "mysql://me:short-secret@db/x", HEADWATER_KEEP_LOGS: "many" };
    const message = messageOf(() => parseConfiguration(env));
    expect(message.split("\n")).toHaveLength(2);
    expect(message).toContain("DATABASE_URL is invalid");
    expect(message).not.toContain("short-secret");
  });

  it("parses the SMTP server and the sender; without a server, nothing is mailed", () => {
    const given = { HEADWATER_SMTP_URL: "smtp://ada:p%40ss@mail:2525", HEADWATER_MAIL_FROM: "Headwater <a@b.c>" };
    expect(parseConfiguration(given).smtp).toEqual({
      server: { host: "mail", port: 2525, secure: false, login: { user: "ada", password: "p@ss" } },
      from: { name: "Headwater", address: "a@b.c" },
    });
    expect(parseConfiguration({ HEADWATER_MAIL_FROM: "a@b.c" }).smtp).toBeUndefined();
  });

  it("does not repeat the password of an invalid SMTP URL", () => {
    const env = { HEADWATER_SMTP_URL: "smtp://ada:short-secret@mail/path", HEADWATER_MAIL_FROM: "a@b.c" };
    expect(messageOf(() => parseConfiguration(env))).not.toContain("short-secret");
  });

  it.each([
    ["https://key:secret@s3/bucket", true],
    ["https://key:secret@s3/bucket?region=eu-x&owner_prefix=true", true],
    ["https://key:secret@s3/bucket?owner_prefix=false", false],
  ])("stores objects of %s below the id of their owner: %s", (url, hasOwnerPrefix) => {
    expect(parseConfiguration({ HEADWATER_S3_URL: url }).s3).toMatchObject({ bucket: "bucket", hasOwnerPrefix });
  });

  it("receives emails only for a domain", () => {
    expect(parseConfiguration({}).email).toBe(undefined);
    expect(parseConfiguration({ HEADWATER_EMAIL_DOMAIN: "In.Example.com", HEADWATER_EMAIL_LISTEN: "0.0.0.0:25" }).email).toEqual({
      domain: "in.example.com",
      listen: { host: "0.0.0.0", port: 25 },
      dns: [],
      messageLimitBytes: 4_194_304,
      files: undefined,
    });
    expect(messageOf(() => parseConfiguration({ HEADWATER_EMAIL_DOMAIN: "no domain" }))).toContain("HEADWATER_EMAIL_DOMAIN");
  });

  it("checks senders of emails with the DNS servers of the host, with others, or not", () => {
    const dns = (value: string) => parseConfiguration({ HEADWATER_EMAIL_DOMAIN: "in.example.com", HEADWATER_EMAIL_DNS: value }).email?.dns;
    expect([dns("system"), dns("off"), dns("")]).toEqual([[], undefined, []]);
    expect(dns("10.0.0.53, 127.0.0.1:5353,fd00::53,[fd00::53]:53")).toEqual(["10.0.0.53", "127.0.0.1:5353", "fd00::53", "[fd00::53]:53"]);
    for (const wrong of ["dns.example.com", "10.0.0.53,off", "10.0.0.53:0", "10.0.0.53:70000", "10.0.0", "[10.0.0.53", ","])
      expect(
        messageOf(() => dns(wrong)),
        wrong,
      ).toContain("HEADWATER_EMAIL_DNS");
  });

  it("refuses a store whose owner_prefix is neither true nor false", () => {
    expect(messageOf(() => parseConfiguration({ HEADWATER_S3_URL: "https://key:secret@s3/bucket?owner_prefix=no" }))).toContain(
      "HEADWATER_S3_URL",
    );
  });

  it("passes the URLs of the SMTP server and the object store, with their passwords, to no child process: children run user code", () => {
    const env = { HEADWATER_SMTP_URL: "smtp://ada:short-secret@mail", HEADWATER_S3_URL: "https://key:short-secret@s3/bucket" };
    const nats = { servers: "127.0.0.1:4222" };
    for (const role of ["runner", "builder", "ingress"] as const)
      expect(JSON.stringify(childEnvironment({ role, nats, env }))).not.toContain("short-secret");
  });

  it("ignores the variables by which Kubernetes announces Services named headwater", () => {
    const env = {
      HEADWATER_API_SERVICE_HOST: "10.0.0.1",
      HEADWATER_API_SERVICE_PORT_HTTP: "3000",
      HEADWATER_API_PORT: "tcp://10.0.0.1:3000",
      HEADWATER_API_PORT_3000_TCP_ADDR: "10.0.0.1",
    };
    expect(parseConfiguration(env)).toEqual(parseConfiguration({}));
  });
});

it("describes every setting with its unit, default and reason", () => {
  const text = describeConfiguration();
  expect(text).toContain("HEADWATER_RUN_TIMEOUT\n      max duration of a run\n      seconds · default: 300");
  expect(text).not.toMatch(/undefined/);
});

function messageOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  return "";
}
