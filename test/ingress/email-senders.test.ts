import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { EmailAuthentication } from "../../domain/invocation/email-authentication.ts";
import type { EmailEvent } from "../../domain/invocation/email-event.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import { emailDefaults } from "../../ingress/email/ports.ts";
import { EmailAuthenticator, type AuthenticatorLimits } from "../../platform/mail/email-authenticator.ts";
import { EmailReader } from "../../platform/mail/email-reader.ts";
import { startSmtpListener } from "../../platform/mail/smtp-listener.ts";
import { startDnsServer, type DnsRecords, type DnsServer } from "../support/dns-server.ts";
import { sendEmail } from "../support/send-email.ts";
import { signed, signingKey } from "../support/signed-mail.ts";
import { serveIngress } from "./served-ingress.ts";

/** Real SMTP and DNS on loopback: the client is 127.0.0.1. */
const entry: Endpoint = {
  source: "p_1",
  pool: "default",
  owner: "u_1",
  customResponse: false,
  active: true,
  workflow: { hasHttpTrigger: false, hasEmailTrigger: true, resumeKey: "key" },
};
const reader = new EmailReader();
const stops: (() => Promise<void>)[] = [];
const [key, weak] = [signingKey(), signingKey(512)];
let dns: DnsServer;
/** A busy machine must not reach the limits of tests that are not about them. */
const patient: Partial<AuthenticatorLimits> = { maxMs: 60_000, graceMs: 60_000 };
let shared: EmailAuthenticator;
const logged: object[] = [];
const log = { warn: (fields: object) => void logged.push(fields) };

beforeAll(async () => {
  dns = await startDnsServer();
  shared = new EmailAuthenticator([dns.address], log, patient);
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  dns.asked.length = 0;
});
afterAll(async () => {
  await Promise.all([reader.stop(), shared.stop(), dns.stop()]);
});

interface Sending {
  readonly raw?: string;
  readonly from?: string;
  readonly limits?: Partial<AuthenticatorLimits>;
  readonly servers?: readonly string[];
}

async function receiving({ limits, servers = [dns.address] }: Sending = {}) {
  const authenticator =
    limits === undefined && servers[0] === dns.address ? shared : new EmailAuthenticator(servers, log, { ...patient, ...limits });
  const { ingress, stored } = await serveIngress(
    {},
    {
      endpoints: { peek: () => entry, find: async () => entry },
      email: {
        config: { ...emailDefaults, host: "127.0.0.1", port: 0, domain: "in.example.com", maxMessageBytes: 2 ** 22 },
        start: (config, handlers) => startSmtpListener(config, handlers, { warn: () => undefined }),
        parse: (raw) => reader.read(raw),
        authenticate: (mail, from) => authenticator.authenticate(mail, from),
        now: () => 0,
      },
    },
  );
  stops.push(async () => {
    await ingress.stop(AbortSignal.timeout(100));
    if (authenticator !== shared) await authenticator.stop();
  });
  const port = Number(ingress.emailAddress?.split(":").at(-1));
  return { stored, send: (raw: string, from: string) => sendEmail(port, { to: ["a@in.example.com"], from, raw }) };
}

/** What the event of an email says, with these records. The email is accepted in any case. */
async function checked(records: DnsRecords, sending: Sending = {}): Promise<EmailAuthentication> {
  dns.records = records;
  const { stored, send } = await receiving(sending);
  expect(await send(sending.raw ?? plain, sending.from ?? "ada@example.com")).toBe(undefined);
  const [event] = stored.map((invocation) => invocation.event as EmailEvent);
  if (event === undefined || event.authentication === null) throw new Error("it is not checked");
  return event.authentication;
}

const mail = (fields: readonly string[], body = "Hello\r\n"): string => `${fields.join("\r\n")}\r\nSubject: Order\r\n\r\n${body}`;
const plain = mail(["From: Ada <ada@example.com>"]);
const here = { "TXT example.com": ["v=spf1 ip4:127.0.0.1 -all"] };
const keyRecord = { "TXT s1._domainkey.example.com": [key.record] };
const reject = { "TXT _dmarc.example.com": ["v=DMARC1; p=reject"] };
const byKey = { key, domain: "example.com" };

describe("the SPF result of an email", () => {
  it.each([
    ["pass", ["v=spf1 ip4:127.0.0.1 -all"]],
    ["fail", ["v=spf1 ip4:192.0.2.1 -all"]],
    ["softfail", ["v=spf1 ~all"]],
    ["neutral", ["v=spf1 ?all"]],
    ["none", undefined],
    ["none", ["another record"]],
    ["permerror", ["v=spf1 nonsense:"]],
    ["permerror", ["v=spf1 -all", "v=spf1 +all"]],
    ["temperror", "fails"],
  ] as const)("is %s for the record %j", async (result, record) => {
    const { spf } = await checked(record === undefined ? {} : { "TXT example.com": record });
    expect(spf).toEqual({ result, domain: "example.com" });
  });

  it("follows hosts, mail servers and other records", async () => {
    const records = { "A mail.example.com": ["127.0.0.1"], "MX mx.example.com": ["mail.example.com"] };
    for (const record of ["a:mail.example.com", "mx:mx.example.com", "include:b.example.com", "redirect=b.example.com"])
      expect(
        (await checked({ ...records, "TXT example.com": [`v=spf1 ${record}`], "TXT b.example.com": ["v=spf1 a:mail.example.com -all"] }))
          .spf,
        record,
      ).toMatchObject({ result: "pass" });
  });

  it("is that of HELO for a bounce", async () => {
    const { spf } = await checked({}, { from: "" });
    expect(spf.result).toBe("none");
    expect(spf.domain).not.toBe("example.com");
  });
});

describe("the DKIM results of an email", () => {
  const dkim = async (raw: string, records: DnsRecords = keyRecord) => (await checked(records, { raw })).dkim;

  it("are pass for a signature, fail after a change, and empty without a signature", async () => {
    expect(await dkim(signed(plain, byKey))).toEqual([{ result: "pass", domain: "example.com", selector: "s1" }]);
    expect(await dkim(signed(plain, byKey).replace("Hello", "Pay me"))).toMatchObject([{ result: "fail", domain: "example.com" }]);
    expect(await dkim(signed(plain, byKey).replace("Order", "Other"))).toMatchObject([{ result: "fail" }]);
    expect(await dkim(plain)).toEqual([]);
  });

  it("are no pass without the key, or with another, damaged, or huge one", async () => {
    const raw = signed(plain, byKey);
    const name = "TXT s1._domainkey.example.com";
    expect(await dkim(raw, {})).toEqual([{ result: "neutral", domain: "example.com", selector: "s1" }]);
    expect(await dkim(raw, { [name]: [signingKey().record] })).toMatchObject([{ result: "fail" }]);
    expect(await dkim(raw, { [name]: ["v=DKIM1; p=AAAA"] })).toMatchObject([{ result: "neutral" }]);
    expect(await dkim(raw, { [name]: [`${key.record}; n=${"x".repeat(5_000)}`] })).toMatchObject([{ result: "temperror" }]);
    expect(await dkim(raw, { [name]: "fails" })).toMatchObject([{ result: "temperror" }]);
  });

  it("are policy for a weak key, and for a signature that does not cover the whole body", async () => {
    const raw = signed(plain, { key: weak, domain: "example.com" });
    expect(await dkim(raw, { "TXT s1._domainkey.example.com": [weak.record] })).toMatchObject([{ result: "policy" }]);
    const { dkim: results, dmarc } = await checked({ ...keyRecord, ...reject }, { raw: signed(plain, { ...byKey, bytes: 3 }) });
    expect([results[0]?.result, dmarc.result]).toEqual(["policy", "fail"]);
  });

  it("are those of the first five signatures, each of which looks up one key", async () => {
    let raw = plain;
    for (let count = 0; count < 40; count++) raw = signed(raw, { ...byKey, selector: `k${count}` });
    expect((await dkim(raw, {})).map(({ selector }) => selector)).toEqual(["k39", "k38", "k37", "k36", "k35"]);
    expect(dns.asked.filter((asked) => asked.includes("_domainkey"))).toHaveLength(5);
  });
});

it("is not verified beyond bounds of work that are checked before", async () => {
  const long = mail(["From: ada@example.com"], `${"x".repeat(300_000)}\r\n`);
  expect((await checked(keyRecord, { raw: signed(long, byKey) })).dkim).toEqual([{ result: "permerror", domain: null, selector: null }]);
  const signature = `DKIM-Signature: v=1; a=rsa-sha256; d=example.com; s=s1; h=from:${"x:".repeat(5_000)}; bh=AAAA; b=AAAA\r\n`;
  expect((await checked(keyRecord, { raw: `${signature}${plain}` })).dkim).toMatchObject([{ result: "permerror" }]);
});

describe("the DMARC result of an email", () => {
  it("is pass if SPF or DKIM passes for the domain of From, or one of its organization", async () => {
    const passes = { result: "pass", domain: "example.com", policy: "reject" };
    expect((await checked({ ...here, ...reject })).dmarc).toEqual(passes);
    const raw = signed(plain, byKey);
    expect((await checked({ ...keyRecord, ...reject }, { raw, from: "bounces@other.example" })).dmarc).toEqual(passes);
    const below = { "TXT mail.example.com": ["v=spf1 ip4:127.0.0.1 -all"] };
    expect((await checked({ ...below, ...reject }, { from: "ada@mail.example.com" })).dmarc).toEqual(passes);
  });

  it("is fail for a forged From, none without a record", async () => {
    const theirs = { "TXT evil.example": ["v=spf1 ip4:127.0.0.1 -all"], "TXT s1._domainkey.evil.example": [key.record] };
    const raw = signed(plain, { key, domain: "evil.example" });
    const forged = await checked({ ...theirs, ...reject }, { raw, from: "a@evil.example" });
    expect([forged.spf.result, forged.dkim[0]?.result]).toEqual(["pass", "pass"]);
    expect(forged.dmarc).toEqual({ result: "fail", domain: "example.com", policy: "reject" });
    expect((await checked(here)).dmarc).toEqual({ result: "none", domain: "example.com", policy: null });
  });

  it("is temperror rather than fail while the author's own records cannot be looked up, but not for another domain's", async () => {
    expect((await checked({ "TXT example.com": "fails", ...reject })).dmarc.result).toBe("temperror");
    expect((await checked({ "TXT evil.example": "fails", ...reject }, { from: "a@evil.example" })).dmarc.result).toBe("fail");
    expect((await checked({ ...here, "TXT _dmarc.example.com": "fails" })).dmarc.result).toBe("temperror");
  });

  it.each([
    ["two fields", mail(["From: ada@example.com", "From: eve@evil.example"])],
    ["two domains", mail(["From: ada@example.com, eve@evil.example"])],
    ["none", mail(["To: ada@example.com"])],
    ["an address in a name", mail(["From: ada@example.com <eve@evil.example>, <ada@example.com>"])],
    ["a field of 9,000 bytes", mail([`From: ${"x".repeat(9_000)} <ada@example.com>`])],
    ["above a line with a space and 3,000 fields", mail(["From: ada@example.com", " ", ...Array.from({ length: 3_000 }, () => "X: y")])],
    ["among 3,000 fields", mail(["From: ada@example.com", ...Array.from({ length: 3_000 }, () => "X: y")])],
  ])("is permerror if From is %s", async (_what, raw) => {
    const { dmarc } = await checked({ ...here, "TXT evil.example": ["v=spf1 ip4:127.0.0.1 -all"], ...reject }, { raw });
    expect(dmarc).toEqual({ result: "permerror", domain: null, policy: null });
  });

  it("is not changed by results that the sender has written", async () => {
    const claims = [
      "Authentication-Results: in.example.com; spf=pass; dkim=pass header.d=example.com; dmarc=pass header.from=example.com",
      "Received-SPF: pass",
      "ARC-Authentication-Results: i=1; in.example.com; dmarc=pass",
      "Return-Path: <ada@example.com>",
      "From: Ada <ada@example.com>",
    ];
    const records = { "TXT evil.example": ["v=spf1 -all"], ...here, ...reject };
    expect(await checked(records, { raw: mail(claims), from: "a@evil.example" })).toEqual({
      spf: { result: "fail", domain: "evil.example" },
      dkim: [],
      dmarc: { result: "fail", domain: "example.com", policy: "reject" },
    });
  });
});

describe("an email whose sender answers lookups with malice", () => {
  it("takes a bounded number of them", async () => {
    const loop = await checked({ "TXT example.com": ["v=spf1 include:example.com -all"] });
    expect(loop.spf.result).toBe("permerror");
    const many = Array.from({ length: 9 }, (_, index) => `mx:m${index}.example.com`).join(" ");
    const hosts = Array.from({ length: 9 }, (_, mx) => [
      [`MX m${mx}.example.com`, Array.from({ length: 9 }, (_each, host) => `h${mx}${host}.example.com`)],
      ...Array.from({ length: 9 }, (_each, host) => [`A h${mx}${host}.example.com`, ["192.0.2.1"]]),
    ]).flat();
    dns.asked.length = 0;
    const { spf } = await checked({ "TXT example.com": [`v=spf1 ${many} -all`], ...Object.fromEntries(hosts) });
    expect(spf.result).toBe("temperror");
    expect(dns.asked.length).toBeLessThanOrEqual(50);
  });

  it("reads no huge answer", async () => {
    const huge = Array.from({ length: 2_000 }, (_, index) => `ip4:10.0.${index >> 8}.${index & 255}`).join(" ");
    expect((await checked({ "TXT example.com": [`v=spf1 ${huge} ip4:127.0.0.1 -all`] })).spf.result).toBe("temperror");
    expect((await checked({ "TXT example.com": [`v=spf1 ${huge.slice(0, 8_000)} ip4:127.0.0.1 -all`] })).spf.result).not.toBe("temperror");
  });

  it("is stored with temperror when the time is over, also behind others", async () => {
    dns.records = { "TXT example.com": "silent", ...keyRecord, "TXT _dmarc.example.com": "silent" };
    const { stored, send } = await receiving({ limits: { maxMs: 500, permits: 1 } });
    const raw = signed(plain, byKey);
    expect(await Promise.all([send(raw, "a@example.com"), send(raw, "b@example.com"), send(raw, "c@example.com")])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    for (const { event } of stored)
      expect((event as EmailEvent).authentication).toMatchObject({ spf: { result: "temperror" }, dmarc: { result: "temperror" } });
  });

  it("has the results that do not need the server that is silent", async () => {
    const { spf, dkim, dmarc } = await checked({ "TXT example.com": "silent", ...keyRecord, ...reject }, { raw: signed(plain, byKey) });
    expect([spf.result, dkim[0]?.result, dmarc.result]).toEqual(["temperror", "pass", "pass"]);
  });

  it("is stored while no DNS server answers at all, and after its thread was ended", async () => {
    const gone = await checked({}, { servers: ["127.0.0.1:9"] });
    expect([gone.spf.result, gone.dmarc.result]).toEqual(["temperror", "temperror"]);
    const ended = await checked({ "TXT example.com": "silent" }, { limits: { maxMs: 20_000, graceMs: -20_000 } });
    expect([ended.spf.result, ended.dkim[0]?.result, ended.dmarc.result]).toEqual(["temperror", "temperror", "temperror"]);
    expect(logged).toMatchObject([{ op: "email.authenticate", messages: 1 }]);
  });
});
