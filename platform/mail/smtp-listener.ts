import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { SMTPServer, type Session } from "smtp-server";
import type { Log } from "../../domain/log.ts";
import { EmailRefusal } from "../../domain/mail/email-refusal.ts";
import type { ArrivingBytes, EmailConfig, EmailHandlers, EmailServer } from "../../ingress/email/ports.ts";
import type { ServerCertificate } from "../http/tls-server.ts";

type Done = (error?: Error | null) => void;

/**
 * Serves SMTP for email triggers: no login, no relaying, STARTTLS if there is a certificate. A changed certificate is used from the next
 * connection on. The answer to `DATA` is that of `handlers.message`.
 */
export async function startSmtpListener(
  config: EmailConfig,
  handlers: EmailHandlers,
  log: Pick<Log, "warn">,
  certificate?: ServerCertificate,
): Promise<EmailServer> {
  let used = certificate?.current;
  const answering = (act: () => void | Promise<void>, done: Done): void =>
    void Promise.resolve()
      .then(act)
      .then(
        () => done(),
        (error: unknown) => done(refusalOf(error, log)),
      );
  const server = new SMTPServer({
    ...used,
    name: config.domain,
    banner: "Headwater",
    authOptional: true,
    disabledCommands: ["AUTH", ...(used === undefined ? ["STARTTLS"] : [])],
    size: config.maxMessageBytes,
    maxRecipients: config.maxRecipients,
    maxClients: config.maxConnections,
    // A client that only asks, or resets again and again, is disconnected.
    maxAllowedUnauthenticatedCommands: 200,
    socketTimeout: config.silenceTimeoutMs,
    closeTimeout: stopMs,
    disableReverseLookup: true,
    logger: false,
    onConnect: (_session, done) => {
      if (certificate !== undefined && certificate.current !== used) {
        used = certificate.current;
        server.updateSecureContext(used);
      }
      done();
    },
    onMailFrom: (_address, { remoteAddress }, done) => answering(() => handlers.sender(remoteAddress), done),
    onRcptTo: ({ address }, { remoteAddress }, done) => answering(() => handlers.recipient(address, remoteAddress), done),
    onData: (stream, session, done) => answering(() => receive(stream, session, config, handlers), done),
  });
  // Of a connection: a client that resets it, or a failed handshake.
  server.on("error", (error: unknown) => log.warn({ op: "email.connection", err: error }, "a connection has ended with an error"));
  const listening = server.listen(config.port, config.host, () => undefined);
  await once(listening, "listening");
  const { address, family, port } = server.server.address() as AddressInfo; // It listens on TCP.
  return {
    address: `${family === "IPv6" ? `[${address}]` : address}:${port}`,
    stop: (signal) => stop(server, signal),
  };
}

/** Idle connections are closed then; messages in progress may take as long. */
const stopMs = 5_000;

function stop(server: SMTPServer, signal: AbortSignal): Promise<void> {
  const cut = (): void => server.connections.forEach((connection) => connection.close());
  if (signal.aborted) cut();
  else signal.addEventListener("abort", cut, { once: true });
  return new Promise((resolve) => server.close(resolve));
}

/** Reads the message to its end in any case, because the answer follows only then, and keeps it while it fits. */
async function receive(stream: Readable, session: Session, config: EmailConfig, handlers: EmailHandlers): Promise<void> {
  const { remoteAddress, envelope } = session;
  const held = handlers.arriving(remoteAddress);
  try {
    const raw = await readBounded(stream, config.maxMessageBytes, held);
    await handlers.message({
      raw,
      from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
      recipients: envelope.rcptTo.map(({ address }) => address),
      peer: remoteAddress,
    });
  } finally {
    held.release();
  }
}

async function readBounded(stream: Readable, maxBytes: number, held: ArrivingBytes): Promise<Buffer> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let refusal: EmailRefusal | undefined;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (refusal === undefined && bytes > maxBytes) refusal = new EmailRefusal(552, `5.3.4 the message is larger than ${maxBytes} bytes`);
    if (refusal === undefined && !held.take(chunk.length))
      refusal = new EmailRefusal(452, "4.3.1 too many messages arrive at the moment: try again later");
    if (refusal === undefined) chunks.push(chunk);
    else chunks = [];
  }
  if (refusal !== undefined) throw refusal;
  return Buffer.concat(chunks, bytes);
}

/** An unexpected error is temporary for the client, which learns nothing else about it. */
function refusalOf(error: unknown, log: Pick<Log, "warn">): EmailRefusal {
  if (error instanceof EmailRefusal) return error;
  log.warn({ op: "email.receive", err: error }, "a message could not be received");
  return new EmailRefusal(451, "4.3.0 the message cannot be received now: try again later");
}
