import { afterAll, afterEach, describe, expect, it } from "vitest";
import { Unavailable } from "../../domain/errors.ts";
import type { EmailEvent } from "../../domain/invocation/email-event.ts";
import { decodePack } from "../../domain/invocation/invocation.ts";
import { workflowRunId } from "../../domain/invocation/run-id.ts";
import { AdmissionGate, defaultBacklogLimits } from "../../domain/limits/admission.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import { emailDefaults, type EmailConfig } from "../../ingress/email/ports.ts";
import type { IngressConfig, IngressPorts } from "../../ingress/ports.ts";
import { EmailReader } from "../../platform/mail/email-reader.ts";
import { startSmtpListener } from "../../platform/mail/smtp-listener.ts";
import type { ServerCertificate } from "../../platform/http/tls-server.ts";
import { ofLocalhost, privateKey } from "../support/certificates.ts";
import { messageOf, sendEmail } from "../support/send-email.ts";
import { until } from "../support/until.ts";
import { rawClient, serveIngress, type ServedIngress } from "./served-ingress.ts";

const reader = new EmailReader();
afterAll(() => reader.stop());

const entry = (source: string, changes: Partial<Endpoint> = {}, hasEmailTrigger = true): Endpoint => ({
  source,
  pool: "default",
  owner: `u_${source}`,
  customResponse: false,
  active: true,
  workflow: { hasHttpTrigger: false, hasEmailTrigger, resumeKey: "key" },
  ...changes,
});
const endpoints = new Map<string, Endpoint>([
  ["orders", entry("p_1")],
  ["others", entry("p_2")],
  ["off", entry("p_3", { active: false })],
  ["removed", entry("p_4", {}, false)],
  ["url", { ...entry("p_5"), workflow: { hasHttpTrigger: true, resumeKey: "key" } }],
  ["source", { source: "dc_1", pool: "default", customResponse: false, active: true }],
]);
const directory = { peek: (key: string) => endpoints.get(key) ?? null, find: async (key: string) => endpoints.get(key) };

interface Served extends ServedIngress {
  readonly smtp: number;
}

const running: Served[] = [];
afterEach(async () => {
  for (const { ingress } of running.splice(0)) await ingress.stop(AbortSignal.timeout(100));
});

async function serve(
  email: Partial<EmailConfig> = {},
  config: Partial<IngressConfig> = {},
  ports: Partial<IngressPorts> = {},
  certificate?: ServerCertificate,
): Promise<Served> {
  const emailConfig = { ...emailDefaults, host: "127.0.0.1", port: 0, domain: "in.example.com", maxMessageBytes: 2 ** 20, ...email };
  const log = { warn: () => undefined };
  const served = await serveIngress(config, {
    endpoints: directory,
    email: {
      config: emailConfig,
      start: (given, handlers) => startSmtpListener(given, handlers, log, certificate),
      parse: (raw) => reader.read(raw),
      now: () => 0,
    },
    ...ports,
  });
  const started = { ...served, smtp: Number(served.ingress.emailAddress?.split(":").at(-1)) };
  running.push(started);
  return started;
}
const to = (...keys: readonly string[]): readonly string[] => keys.map((key) => `${key}@in.example.com`);
/** A client that names recipients and sends no message. */
async function named({ smtp }: Served, key: string, recipients: number) {
  const client = await rawClient(smtp);
  await until(() => client.received().startsWith("220"), "it is greeted");
  client.socket.write(`EHLO a\r\nMAIL FROM:<a@example.com>\r\n${`RCPT TO:<${to(key)[0]}>\r\n`.repeat(recipients)}`);
  return client;
}
const eventsOf = ({ stored }: Served): readonly EmailEvent[] => stored.map(({ event }) => event as EmailEvent);

describe("an email to the address of a workflow", () => {
  it("starts a run with its content, decoded", async () => {
    const served = await serve();
    expect(await sendEmail(served.smtp, { to: ["ORDERS@In.Example.COM"], raw: messageOf("Bestellung ü", { attachments: [300] }) })).toBe(
      undefined,
    );
    expect(served.stored).toMatchObject([{ source: "p_1", trigger: "email", delivery: expect.stringMatching(/^m[\w-]{22}$/) }]);
    const [event] = eventsOf(served);
    expect(event).toEqual({
      from: { name: "Ada Lovelace", address: "ada@example.com" },
      to: [
        { name: "Böb", address: "bob@example.com" },
        { name: "", address: "orders@in.example.com" },
      ],
      cc: [],
      reply_to: [],
      subject: "Bestellung ü",
      text: expect.stringMatching(/^Grüße\s*$/),
      html: expect.stringContaining("<p>Hello</p>"),
      date: expect.stringContaining("2026-11-30T09:00:00"),
      message_id: "<Bestellung--@example.com>",
      headers: expect.objectContaining({ received: ["from a", "from b"], "mime-version": "1.0" }),
      attachments: [{ filename: "0.pdf", contentType: "application/pdf", size: 300, content: Buffer.alloc(300, 1).toString("base64") }],
      envelope: { from: "ada@example.com", to: "orders@in.example.com" },
      client_ip: "127.0.0.1",
      authentication: null,
    });
  });

  it("starts one run for each of its recipients, and none for a refused one", async () => {
    const served = await serve();
    expect(await sendEmail(served.smtp, { to: to("orders", "unknown", "others"), raw: messageOf("Two") })).toBe(undefined);
    expect(served.stored.map(({ source }) => source).toSorted()).toEqual(["p_1", "p_2"]);
    expect(new Set(served.stored.map(({ delivery }) => delivery)).size).toBe(2);
    expect(
      eventsOf(served)
        .map(({ envelope }) => envelope.to)
        .toSorted(),
    ).toEqual(to("orders", "others"));
  });

  it("is refused at RCPT if there is no such address, it is that of a URL or a source, or of another domain", async () => {
    const served = await serve();
    for (const address of [...to("unknown", "removed", "url", "source", "a.b"), "orders@example.com", "orders@in.example.com.evil"])
      expect([address, await sendEmail(served.smtp, { to: [address], raw: messageOf("No") })]).toEqual([
        address,
        { code: 550, text: expect.stringContaining("5.1.1") },
      ]);
    expect(await sendEmail(served.smtp, { to: to("off"), raw: messageOf("Later") })).toMatchObject({ code: 450 });
    expect(served.stored).toEqual([]);
  });

  it("is not reachable by HTTP under the same key", async () => {
    const served = await serve();
    expect((await fetch(served.url("/orders"), { method: "POST", body: "x" })).status).toBe(404);
  });

  it("is refused with 552 if it is too large, announced or not, or its event is", async () => {
    const served = await serve({ maxMessageBytes: 50_000 }, { bodyLimitBytes: 20_000 });
    expect(await sendEmail(served.smtp, { to: to("orders"), raw: messageOf("Announced", { attachments: [60_000] }) })).toMatchObject({
      code: 552,
    });
    const client = await rawClient(served.smtp);
    const says = (code: string): Promise<void> =>
      until(() => client.received().split("\r\n").at(-2)?.startsWith(code) === true, `it answers ${code}`);
    await says("220");
    for (const [command, code] of [
      ["EHLO a", "250 "],
      ["MAIL FROM:<a@example.com>", "250"],
      ["RCPT TO:<orders@in.example.com>", "250"],
      ["DATA", "354"],
    ] as const) {
      client.socket.write(`${command}\r\n`);
      await says(code);
    }
    client.socket.write(`${messageOf("Unannounced", { attachments: [60_000] })}\r\n.\r\n`);
    await says("552");
    client.socket.destroy();
    expect(await sendEmail(served.smtp, { to: to("orders"), raw: messageOf("Event", { attachments: [18_000] }) })).toEqual({
      code: 552,
      text: expect.stringContaining("as JSON: it may be 20000"),
    });
    expect(await sendEmail(served.smtp, { to: to("orders"), raw: messageOf("Fits", { attachments: [10_000] }) })).toBe(undefined);
    expect(served.stored).toHaveLength(1);
  });

  it("is refused with 452 while the backlog is full, and 451 while NATS does not answer", async () => {
    const full = await serve({}, {}, { admission: { isFull: () => true, admits: () => false } });
    expect(await sendEmail(full.smtp, { to: to("orders"), raw: messageOf("Full") })).toMatchObject({ code: 452 });
    const publish = async (): Promise<void> => {
      throw new Unavailable("NATS is down");
    };
    const down = await serve({}, {}, { invocations: { publish } });
    expect(await sendEmail(down.smtp, { to: to("orders"), raw: messageOf("Down") })).toEqual({
      code: 451,
      text: expect.not.stringContaining("NATS"),
    });
  });

  it("is bounded per address with 452, and per client with 421", async () => {
    const served = await serve();
    const refused: number[] = [];
    for (let count = 0; count < 61; count++) {
      const answer = await sendEmail(served.smtp, { to: to("orders"), raw: messageOf(`Many ${count}`) });
      if (answer !== undefined) refused.push(answer.code);
    }
    expect([served.stored.length, refused]).toEqual([60, [452]]);
    // Each costs two: the message, and its recipient, also a wrong one.
    const client = await named(served, "unknown", 200);
    await until(() => client.received().includes("\n421 "), "the client is refused");
    expect(client.received().match(/^550 /gm)).toHaveLength(300 - 2 * 61 - 1);
    client.socket.destroy();
  });

  it("uses up nothing of an address while it is only named", async () => {
    const served = await serve();
    const client = await named(served, "orders", 70);
    await until(() => client.received().match(/^250 /gm)?.length === 72, "all are answered");
    expect(await sendEmail(served.smtp, { to: to("orders"), raw: messageOf("Still") })).toBeUndefined();
    client.socket.destroy();
  });

  it("is stored for none of its recipients if one is gone by then", async () => {
    endpoints.set("leaving", entry("p_9"));
    const served = await serve(
      {},
      {},
      {
        endpoints: {
          ...directory,
          peek: (key) => {
            const found = directory.peek(key);
            if (key === "leaving") endpoints.delete(key);
            return found;
          },
        },
      },
    );
    expect(await sendEmail(served.smtp, { to: to("leaving", "orders"), raw: messageOf("Both") })).toMatchObject({ code: 550 });
    expect(served.stored).toEqual([]);
  });

  it("is refused when it is made to be read for long, and the next one is read", async () => {
    const served = await serve({ maxMessageBytes: 2 ** 22 });
    const raw = `Message-ID: <a@example.com>\r\n\r\n${"\r\n".repeat(500_000)}`;
    expect(await sendEmail(served.smtp, { to: to("orders"), raw })).toMatchObject({ code: 554, text: expect.stringContaining("lines") });
    expect(await sendEmail(served.smtp, { to: to("orders"), raw: messageOf("Next") })).toBeUndefined();
  });

  it("is not received from a client with too many connections, or for longer than a message may take", async () => {
    const served = await serve({ maxPeerConnections: 1, messageTimeoutMs: 50 });
    const first = await rawClient(served.smtp);
    await until(() => first.received().startsWith("220"), "the first one is greeted");
    const second = await rawClient(served.smtp);
    await until(() => second.received().startsWith("421"), "the second one is refused");
    first.socket.write(`EHLO a\r\nMAIL FROM:<a@example.com>\r\n`);
    await until(() => first.received().includes("250 "), "it is answered");
    first.socket.write(`RCPT TO:<${to("orders")[0]}>\r\nDATA\r\n`);
    await until(() => first.received().includes("354"), "it may send");
    first.socket.write("Subject: slow\r\n");
    await until(() => first.received().includes("421 4.4.2") || first.isClosed(), "it is left");
    first.socket.destroy();
    second.socket.destroy();
  });

  it("offers STARTTLS if there is a certificate", async () => {
    const plain = await serve();
    const required = { requireTLS: true, authority: ofLocalhost };
    expect(await sendEmail(plain.smtp, { to: to("orders"), raw: messageOf("Plain") }, required)).toBeDefined();
    expect(plain.stored).toEqual([]);
    const certificate = { current: { cert: ofLocalhost, key: privateKey } } as ServerCertificate; // The value that it reads.
    const secured = await serve({}, {}, {}, certificate);
    expect(await sendEmail(secured.smtp, { to: to("orders"), raw: messageOf("Secured") }, required)).toBe(undefined);
    expect(secured.stored).toHaveLength(1);
  });
});

describe("an email that is sent again", () => {
  it("has the same run id if the server died before its answer", async () => {
    const stored: ReturnType<typeof decodePack>[number][] = [];
    const publish = async (_subject: string, pack: string): Promise<void> => {
      stored.push(...decodePack(pack));
      if (stored.length === 1) await served.ingress.stop(AbortSignal.abort());
    };
    const served = await serve({}, {}, { invocations: { publish } });
    running.pop();
    const email = { to: to("orders"), raw: messageOf("Once") };
    expect(await sendEmail(served.smtp, email)).toMatchObject({ code: 0 });
    const next = await serve({}, {}, { invocations: { publish } });
    expect(await sendEmail(next.smtp, email)).toBe(undefined);
    expect(stored).toHaveLength(2);
    const [first, second] = stored.map((invocation, seq) => workflowRunId(invocation, { seq, index: 0 }));
    expect(second).toBe(first);
  });

  it("starts another run if it has no id, or other content", async () => {
    const served = await serve();
    for (const raw of [messageOf("A", { id: "" }), messageOf("A", { id: "" }), messageOf("A"), messageOf("A", { attachments: [1] })])
      expect(await sendEmail(served.smtp, { to: to("orders"), raw })).toBe(undefined);
    expect(new Set(served.stored.map((invocation, seq) => workflowRunId(invocation, { seq, index: 0 }))).size).toBe(4);
  });
});

it("does not listen without a domain", async () => {
  const served = await serveIngress({}, { admission: new AdmissionGate(defaultBacklogLimits) });
  expect(served.ingress.emailAddress).toBe(undefined);
  await served.ingress.stop(AbortSignal.timeout(100));
});
