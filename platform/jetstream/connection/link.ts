import { connect as dial, createInbox, credsAuthenticator, type NatsConnection } from "@nats-io/transport-node";
import { Unavailable } from "../../../domain/errors.ts";
import { retry } from "../../../domain/retry.ts";

export interface LinkOptions {
  /** Address and credentials, as `parseNatsUrl` reads them; `servers` is host:port or nats://host:port, several separated by commas. */
  readonly server: {
    readonly servers: string;
    readonly user?: string;
    readonly pass?: string;
    readonly token?: string;
    readonly credentials?: string;
    readonly inboxPrefix?: string;
    readonly apiPrefix?: string;
    readonly credentialsFile?: string;
  };
  /** Shown by the server's monitoring. */
  readonly name: string;
  /** How long to try at the start, milliseconds. */
  readonly startTimeoutMs?: number;
}

/** Something that runs until it is stopped: a reader, a watch, a service. `stop` resolves when it calls back no more. */
export interface Stoppable {
  stop(): Promise<void>;
}

export type LinkStatus = "connected" | "disconnected" | "closed";

/** One connection to the message server: it comes back by itself for ever, and says when it went and when it is back. */
export interface Link {
  readonly nats: NatsConnection;
  /** A subject for answers that nobody else has. */
  newInbox(): string;
  /** `$JS.API`, or what stands for it in the user's account. */
  readonly apiPrefix: string;
  status(): LinkStatus;
  /** Tells each change from now on; the returned function ends that. */
  onStatus(listener: (status: LinkStatus) => void): () => void;
  /** Sends what is pending and closes. */
  close(): Promise<void>;
}

const retryEveryMs = 100;

/** @throws Unavailable when no server answers within the time; it names the address, never the credentials. */
export async function openLink(options: LinkOptions): Promise<Link> {
  const nats = await dialUntil(options, performance.now() + (options.startTimeoutMs ?? 15_000));
  let status: LinkStatus = "connected";
  const listeners = new Set<(status: LinkStatus) => void>();
  const tell = (next: LinkStatus): void => {
    if (next === status) return;
    status = next;
    for (const listener of listeners) listener(next);
  };
  void followStatus(nats, tell); // Ends with the connection and cannot fail.
  return {
    nats,
    apiPrefix: options.server.apiPrefix ?? "$JS.API",
    newInbox: () => createInbox(options.server.inboxPrefix),
    status: () => status,
    onStatus: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      // A drain needs the server; without one there is nothing to wait for.
      await (status === "connected" ? nats.drain().catch(() => nats.close()) : nats.close());
      tell("closed");
    },
  };
}

async function followStatus(nats: NatsConnection, tell: (status: LinkStatus) => void): Promise<void> {
  for await (const event of nats.status()) {
    if (event.type === "disconnect") tell("disconnected");
    else if (event.type === "reconnect") tell("connected");
    else if (event.type === "close") tell("closed");
  }
}

async function dialUntil(options: LinkOptions, deadline: number): Promise<NatsConnection> {
  const { servers, credentials, apiPrefix: _, credentialsFile: __, ...login } = options.server;
  const authenticator = credentials === undefined ? {} : { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) };
  const dialOnce = (): Promise<NatsConnection> =>
    dial({
      ...login,
      ...authenticator,
      servers: servers.split(","),
      name: options.name,
      // Traces cost more than the publish itself.
      noAsyncTraces: true,
      maxReconnectAttempts: -1,
      reconnectTimeWait: retryEveryMs,
      reconnectJitter: 50,
      pingInterval: 10_000,
      // Credentials may be late or in rotation; giving up forever would need a restart of the process.
      ignoreAuthErrorAbort: true,
      timeout: Math.max(100, Math.min(deadline - performance.now(), 5_000)),
    });
  try {
    const withinMs = deadline - retryEveryMs - performance.now();
    return await retry(dialOnce, { firstMs: retryEveryMs, withinMs, isTransient: (error) => !isCredentialError(error) });
  } catch (error) {
    throw cannotConnect(servers, error);
  }
}

const isCredentialError = (error: unknown): boolean => error instanceof Error && /authorization/i.test(`${error.name} ${error.message}`);

function cannotConnect(servers: string, cause: unknown): Unavailable {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Unavailable(
    `cannot connect to the message server at ${servers}: ${why}; start nats-server 2.14 or later there, with JetStream, or set NATS_URL`,
    { cause },
  );
}
