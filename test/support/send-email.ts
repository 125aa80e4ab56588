import { Readable } from "node:stream";
import { createSecureContext } from "node:tls";
import SMTPConnection, { type SmtpError } from "nodemailer/lib/smtp-connection";

export interface SentEmail {
  readonly from?: string;
  readonly to: readonly string[];
  /** The whole message, with CRLF. */
  readonly raw: string | Buffer;
}

export interface SendOptions {
  readonly requireTLS?: boolean;
  /** PEM of the authority that the server is verified with. */
  readonly authority?: string;
}

/** The answer to a message: undefined if it was accepted, otherwise the code and the text; code 0 without an answer. */
export type Refused = { readonly code: number; readonly text: string } | undefined;

/** Sends a message with the SMTP client of nodemailer. Refused recipients count as a refusal only if none is left. */
export async function sendEmail(
  port: number,
  { from = "ada@example.com", to, raw }: SentEmail,
  { requireTLS = false, authority }: SendOptions = {},
): Promise<Refused> {
  const client = new SMTPConnection({
    host: "127.0.0.1",
    port,
    secure: false,
    requireTLS,
    tls: authority === undefined ? {} : { secureContext: createSecureContext({ ca: authority }) },
    connectionTimeout: 60_000,
    greetingTimeout: 60_000,
    socketTimeout: 120_000,
    dnsTimeout: 10_000,
  });
  const ended = new Promise<SmtpError>((resolve) => client.once("error", resolve));
  const step = (run: (done: (error?: SmtpError | null) => void) => void): Promise<Refused> =>
    Promise.race([
      new Promise<Refused>((resolve) => run((error) => resolve(error === undefined || error === null ? undefined : refusedBy(error)))),
      ended.then(refusedBy),
    ]);
  const refused =
    (await step((done) => client.connect(done))) ?? (await step((done) => client.send({ from, to }, Readable.from([raw]), done)));
  client.close();
  return refused;
}

const refusedBy = ({ responseCode = 0, message }: SmtpError): { readonly code: number; readonly text: string } => ({
  code: responseCode,
  text: message,
});

/** A message with a text, and attachments of so many bytes. */
export function messageOf(subject: string, more: { readonly id?: string; readonly attachments?: readonly number[] } = {}): string {
  const { id = `<${subject.replaceAll(/\W/g, "-")}@example.com>`, attachments = [] } = more;
  const parts = attachments.map(
    (bytes, index) =>
      `--b\r\nContent-Type: application/pdf; name="${index}.pdf"\r\nContent-Disposition: attachment; filename="${index}.pdf"\r\nContent-Transfer-Encoding: base64\r\n\r\n${(
        Buffer.alloc(bytes, index + 1)
          .toString("base64")
          .match(/.{1,76}/g) ?? []
      ).join("\r\n")}\r\n`,
  );
  const head = [
    "From: Ada Lovelace <ada@example.com>",
    "To: =?utf-8?q?B=C3=B6b?= <bob@example.com>, orders@in.example.com",
    `Subject: =?utf-8?b?${Buffer.from(subject).toString("base64")}?=`,
    ...(id === "" ? [] : [`Message-ID: ${id}`]),
    "Date: Mon, 30 Nov 2026 10:00:00 +0100",
    "Received: from a",
    "Received: from b",
    "MIME-Version: 1.0",
    'Content-Type: multipart/mixed; boundary="b"',
  ];
  const body = [
    "--b",
    'Content-Type: multipart/alternative; boundary="a"',
    "",
    "--a",
    "Content-Type: text/plain; charset=iso-8859-1",
    "Content-Transfer-Encoding: quoted-printable",
    "",
    "Gr=FC=DFe",
    "--a",
    "Content-Type: text/html; charset=utf-8",
    "",
    "<p>Hello</p>",
    "--a--",
    "",
  ];
  return `${head.join("\r\n")}\r\n\r\n${body.join("\r\n")}${parts.join("")}--b--\r\n`;
}
