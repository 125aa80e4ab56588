import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { SMTPServer, type Session } from "smtp-server";
import { networkOf } from "../../domain/client-address.ts";
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
  const connections = new OpenConnections(config, (id) => {
    for (const connection of server.connections) if (connection.session.id === id) connection.close();
  });
  const server = new SMTPServer({
    ...used,
    name: config.domain,
    banner: "Headwater",
    authOptional: true,
    disabledCommands: ["AUTH", ...(used === undefined ? ["STARTTLS"] : [])],
    size: config.maxMessageBytes,
    maxRecipients: config.maxRecipients,
    maxClients: config.maxConnections,
    socketTimeout: config.silenceTimeoutMs,
    closeTimeout: stopMs,
    disableReverseLookup: true,
    logger: false,
    onConnect: (session, done) => {
      if (certificate !== undefined && certificate.current !== used) {
        used = certificate.current;
        server.updateSecureContext(used);
      }
      answering(() => connections.open(session), done);
    },
    onClose: (session) => connections.close(session),
    onMailFrom: (_address, { remoteAddress }, done) => answering(() => handlers.sender(remoteAddress), done),
    onRcptTo: ({ address }, { remoteAddress }, done) => answering(() => handlers.recipient(address, remoteAddress), done),
    onData: (stream, session, done) => answering(() => receive(stream, session, config, handlers), done),
  });
  // Of a connection: a client that resets it, or a failed handshake. Clients cause as many as they like.
  server.on("error", () => undefined);
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
  const { remoteAddress, hostNameAppearsAs, envelope } = session;
  const held = handlers.arriving(remoteAddress);
  const tooSlow = new EmailRefusal(421, "4.4.2 the message took too long");
  const timer = setTimeout(() => stream.destroy(tooSlow), config.messageTimeoutMs);
  try {
    const raw = await readBounded(stream, config.maxMessageBytes, held);
    await handlers.message({
      raw,
      from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
      recipients: envelope.rcptTo.map(({ address }) => address),
      peer: remoteAddress,
      helo: hostNameAppearsAs,
    });
  } finally {
    clearTimeout(timer);
    held.release();
  }
}

/** Connections by client network, and how long each may last: one network must not hold all of them. */
class OpenConnections {
  readonly #config: Pick<EmailConfig, "maxPeerConnections" | "connectionTimeoutMs">;
  readonly #end: (id: string) => void;
  readonly #open = new Map<string, { readonly network: string; readonly timer: NodeJS.Timeout }>();

  /** @param end closes a connection */
  constructor(config: Pick<EmailConfig, "maxPeerConnections" | "connectionTimeoutMs">, end: (id: string) => void) {
    this.#config = config;
    this.#end = end;
  }

  /** @throws EmailRefusal */
  open({ id, remoteAddress }: Session): void {
    const network = networkOf(remoteAddress);
    const own = this.#open.values().filter((each) => each.network === network);
    if ([...own].length >= this.#config.maxPeerConnections)
      throw new EmailRefusal(421, "4.7.0 too many connections from this client: try again later");
    const timer = setTimeout(() => this.#end(id), this.#config.connectionTimeoutMs).unref();
    this.#open.set(id, { network, timer });
  }

  close({ id }: Session): void {
    clearTimeout(this.#open.get(id)?.timer);
    this.#open.delete(id);
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
    else {
      chunks = [];
      held.release();
    }
  }
  if (refusal !== undefined) throw refusal;
  return Buffer.concat(chunks, bytes);
}

/** What a client causes by ending its connection. */
const ofClient = new Set<unknown>(["ECONNECTION", "ECONNRESET", "EPIPE"]);

/** An unexpected error is temporary for the client, which learns nothing else about it. */
function refusalOf(error: unknown, log: Pick<Log, "warn">): EmailRefusal {
  if (error instanceof EmailRefusal) return error;
  const isOfClient = error instanceof Error && "code" in error && ofClient.has(error.code);
  if (!isOfClient) log.warn({ op: "email.receive", err: error }, "a message could not be received");
  return new EmailRefusal(451, "4.3.0 the message cannot be received now: try again later");
}
