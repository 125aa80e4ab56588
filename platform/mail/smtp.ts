import { Readable } from "node:stream";
import type { SecureContext } from "node:tls";
import type { Mailbox } from "nodemailer/lib/mail-composer";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import type { SmtpError } from "nodemailer/lib/smtp-connection";
import PQueue from "p-queue";
import { Unavailable } from "../../domain/errors.ts";
import {
  bounded,
  isAddress,
  safeMail,
  type MailOutcome,
  type Mailer,
  type MailSession,
  type OutgoingMail,
} from "../../domain/mail/outgoing-mail.ts";
import type { ChangingFiles } from "../tls/changing-files.ts";
import type { Sender, SmtpAddress } from "./smtp-address.ts";

export interface SmtpOptions {
  readonly server: SmtpAddress;
  readonly from: Sender;
  /** Longest silence of the server, in ms. */
  readonly timeoutMs?: number;
  /** Trusted authorities. Default: the public ones. */
  readonly trusted?: ChangingFiles<SecureContext> | undefined;
}

const defaultTimeoutMs = 20_000;
/** Connections of `send` at once. */
const maxConnections = 4;
const maxReason = 300;

/** nodemailer is loaded with the first connection: most installations send no mail. */
export function createSmtpMailer(options: SmtpOptions): Mailer {
  const single = new PQueue({ concurrency: maxConnections });
  const connect = (signal?: AbortSignal): Promise<MailSession> => openSession(options, signal);
  return {
    connect,
    send: (mail) =>
      single.add(async () => {
        try {
          const session = await connect();
          return await session.send(mail).finally(() => session.close());
        } catch (error) {
          return { outcome: "retry", reason: error instanceof Error ? error.message : String(error) };
        }
      }),
  };
}

async function openSession(options: SmtpOptions, signal?: AbortSignal): Promise<MailSession> {
  const connection = await connected(options, signal);
  let isSending = false;
  return {
    async send(mail) {
      isSending = true;
      return sendOne(connection, mail, options)
        .catch((error: unknown): MailOutcome => ({
          outcome: "refused",
          reason: `it cannot be composed: ${reasonOf(error, options.server)}`,
        }))
        .finally(() => (isSending = false));
    },
    get isOpen() {
      return !connection.destroyed;
    },
    close: () => (isSending ? connection.close() : connection.quit()),
  };
}

async function connected(options: SmtpOptions, signal?: AbortSignal): Promise<SMTPConnection> {
  const { server, timeoutMs = defaultTimeoutMs, trusted } = options;
  const { default: Connection } = await import("nodemailer/lib/smtp-connection");
  const { host, port, secure, login } = server;
  const timeouts = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs, dnsTimeout: timeoutMs };
  // A password must not cross a network in plain text because someone removed the server's offer of STARTTLS.
  const requireTLS = login !== undefined && !secure && !isLoopback(host);
  const tls = trusted === undefined ? {} : { secureContext: trusted.current };
  const connection = new Connection({ host, port, secure, requireTLS, tls, ...timeouts });
  const close = (): void => connection.close();
  signal?.addEventListener("abort", close, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      // The listener stays: an error without one would end the process. An error during `send` also reaches its callback.
      connection.on("error", reject);
      connection.on("end", () => reject(new Error("the connection was closed")));
      connection.connect((error) => (error === undefined ? resolve() : reject(error)));
    });
    if (login !== undefined) await logIn(connection, login);
    return connection;
  } catch (error) {
    connection.close();
    throw new Unavailable(`the SMTP server at ${host}:${port} is unavailable: ${reasonOf(error, server)}`, { code: "mail_unavailable" });
  } finally {
    signal?.removeEventListener("abort", close);
  }
}

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);

async function logIn(connection: SMTPConnection, { user, password }: NonNullable<SmtpAddress["login"]>): Promise<void> {
  const error = await untilEnd<SmtpError | null>(connection, new Error("the connection was closed during the login"), (done) =>
    connection.login({ user, pass: password }, done),
  );
  if (error !== null) throw error;
}

async function sendOne(connection: SMTPConnection, mail: OutgoingMail, { server, from }: SmtpOptions): Promise<MailOutcome> {
  if (!isAddress(mail.to)) return { outcome: "refused", reason: `the address ${JSON.stringify(bounded(mail.to, 100))} is invalid` };
  const message = Readable.from([await composed(mail, from)]);
  let isHandedOver = false;
  message.on("end", () => (isHandedOver = true));
  // After `close` there is no sign but the end. An error is reported right after it.
  const error = await untilEnd<SmtpError | null>(connection, new Error("the connection was closed"), (done) =>
    connection.send({ from: from.address, to: [mail.to] }, message, done),
  );
  if (error === null) return { outcome: "sent" };
  if (!connection.destroyed) await reset(connection);
  return { outcome: outcomeOf(error, isHandedOver), reason: reasonOf(error, server) };
}

/** Ends the refused mail, so that another one can follow. If that fails, the connection is closed. */
async function reset(connection: SMTPConnection): Promise<void> {
  const error = await untilEnd<SmtpError | null>(connection, null, (done) => connection.reset(done));
  if (error !== null) connection.close();
}

/** What the call reports, or `atEnd` if the connection ends without a report. */
function untilEnd<Result>(connection: SMTPConnection, atEnd: Result, call: (done: (result: Result) => void) => void): Promise<Result> {
  return new Promise((resolve) => {
    const end = (): void => void setImmediate(() => resolve(atEnd));
    connection.once("end", end);
    call((result) => {
      connection.off("end", end);
      resolve(result);
    });
  });
}

/**
 * | failure | outcome |
 * |---|---|
 * | refused by 5xx, for this recipient or message | refused |
 * | refused by 4xx, or because of the sender, which concerns all mails | retry |
 * | connection lost before all of the message was handed over | retry |
 * | connection lost after that, without an answer | unknown |
 */
function outcomeOf({ responseCode, permanent, command, code }: SmtpError, isHandedOver: boolean): "retry" | "refused" | "unknown" {
  if (responseCode !== undefined) return permanent === true && command !== "MAIL FROM" ? "refused" : "retry";
  if (isHandedOver) return "unknown";
  // The server has announced a maximum size, or the address cannot be written in its alphabet.
  return code === "EMESSAGE" || code === "EENVELOPE" ? "refused" : "retry";
}

async function composed(mail: OutgoingMail, from: Sender): Promise<Buffer> {
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const { id, to, subject, text, html } = safeMail(mail);
  const recipient: Mailbox = { name: "", address: to };
  const domain = from.address.slice(from.address.indexOf("@") + 1);
  return new MailComposer({
    from,
    to: recipient,
    subject,
    text,
    ...(html === undefined ? {} : { html }),
    messageId: `<${id.replace(/[^\w.-]/gu, "_")}@${domain}>`,
    headers: { "Auto-Submitted": "auto-generated" }, // Out-of-office programs do not answer it (RFC 3834).
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build();
}

/** The server's words in one line, without the password, should it repeat it. */
function reasonOf(error: unknown, { login }: SmtpAddress): string {
  const text = (error instanceof Error ? error.message : String(error)).replace(/\s+/gu, " ");
  const masked = login === undefined ? text : secretsOf(login).reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
  return bounded(masked, maxReason);
}

function secretsOf({ user, password }: NonNullable<SmtpAddress["login"]>): readonly string[] {
  const plain = Buffer.from(`\0${user}\0${password}`).toString("base64");
  return [plain, Buffer.from(password).toString("base64"), password];
}
