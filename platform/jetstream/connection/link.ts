import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import {
  AuthorizationError,
  connect as dial,
  createInbox,
  UserAuthenticationExpiredError,
  type NatsConnection,
  type TlsOptions,
} from "@nats-io/transport-node";
import { Unavailable } from "../../../domain/errors.ts";
import { retry } from "../../../domain/retry.ts";
import { identityOf, type ClientFiles } from "../../tls/client-files.ts";
import { authenticatorOf } from "./authenticator.ts";

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
    readonly tlsFiles?: ClientFiles;
  };
  /** Shown in the monitoring of NATS. */
  readonly name: string;
  /** How long to try to connect at the start. */
  readonly startTimeoutMs?: number;
  /** For each attempt to connect; by default at most 2 s, and what is left of `startTimeoutMs`. */
  readonly dialTimeoutMs?: number;
  /** Called if the client closes the connection by itself: it does not connect again. */
  readonly onUnexpectedClose?: (cause: unknown) => void;
}

/** Something that runs until it is stopped: a reader, a watch, a service. `stop` resolves when it calls back no more. */
export interface Stoppable {
  stop(): Promise<void>;
}

/** What adapters use of the client's connection. */
export type Nats = Pick<NatsConnection, "publish" | "subscribe" | "request" | "flush" | "info">;

export type LinkStatus = "connected" | "disconnected" | "closed";

/** A connection to NATS, which reconnects forever and reports changes of its status. */
export interface Link {
  readonly nats: NatsConnection;
  /** A subject for replies that no other client uses. */
  newInbox(): string;
  /** `$JS.API`, `$JS.<domain>.API`, or its imported name in the user's account. */
  readonly apiPrefix: string;
  status(): LinkStatus;
  /** Why NATS refuses to let this client connect again; undefined while it is connected, or simply cannot be reached. */
  refusal(): string | undefined;
  /** Reports each change from now on, until the returned function is called. */
  onStatus(listener: (status: LinkStatus) => void): () => void;
  /** Sends pending messages, then closes. */
  close(): Promise<void>;
}

const retryEveryMs = 100;
/** A lost server accepts no connection: the next server of the list is tried after this time. */
const dialTimeoutMs = 2_000;

/** @throws Unavailable when NATS does not answer in time; the error names the address, never the credentials */
export async function openLink(options: LinkOptions): Promise<Link> {
  const client = await dialUntil(options, performance.now() + (options.startTimeoutMs ?? 15_000));
  let status: LinkStatus = "connected";
  let refusal: string | undefined;
  const listeners = new Set<(status: LinkStatus) => void>();
  const report = (next: LinkStatus): void => {
    if (next === "connected") refusal = undefined;
    if (next === status) return;
    status = next;
    for (const listener of listeners) listener(next);
  };
  void followStatus(client, report, (reason) => (refusal = reason)); // Ends with the connection and cannot fail.
  let isClosing = false;
  void client.closed().then((cause) => {
    report("closed");
    if (!isClosing) options.onUnexpectedClose?.(cause);
  });
  const { apiPrefix = "$JS.API" } = options.server;
  return {
    nats: /^\$JS\..+\.API$/.test(apiPrefix) ? withEntriesByApi(client, apiPrefix) : client,
    apiPrefix,
    newInbox: () => createInbox(options.server.inboxPrefix),
    status: () => status,
    refusal: () => refusal,
    onStatus: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      isClosing = true;
      // Draining needs the server. Without a connection there is nothing to wait for.
      await (status === "connected" ? client.drain().catch(() => client.close()) : client.close());
      report("closed");
    },
  };
}

/**
 * The connection in a JetStream domain: entries of buckets are published through its API. Leaf nodes forward no `$KV.>`, since their own
 * JetStream may have the same bucket.
 */
function withEntriesByApi(client: NatsConnection, apiPrefix: string): NatsConnection {
  const publish: NatsConnection["publish"] = (subject, payload, options) =>
    client.publish(subject.startsWith("$KV.") ? `${apiPrefix}.${subject}` : subject, payload, options);
  return Object.create(client, { publish: { value: publish } }) as NatsConnection; // All other methods are inherited.
}

async function followStatus(
  nats: NatsConnection,
  report: (status: LinkStatus) => void,
  onRefusal: (reason: string) => void,
): Promise<void> {
  for await (const event of nats.status()) {
    if (event.type === "disconnect") report("disconnected");
    else if (event.type === "reconnect") report("connected");
    else if (event.type === "error" && isCredentialError(event.error)) onRefusal(event.error.message);
  }
}

async function dialUntil(options: LinkOptions, deadline: number): Promise<NatsConnection> {
  const { servers, credentials, apiPrefix: _api, credentialsFile, tlsFiles, ...login } = options.server;
  const authenticator =
    credentials === undefined ? {} : { authenticator: authenticatorOf(credentials, readerOf(credentialsFile, credentials)) };
  const dialOnce = (): Promise<NatsConnection> =>
    dial({
      ...login,
      ...authenticator,
      ...(tlsFiles === undefined ? {} : { tls: tlsOptions(servers, tlsFiles) }),
      servers: servers.split(","),
      name: options.name,
      // A trace costs more than the publish itself.
      noAsyncTraces: true,
      maxReconnectAttempts: -1,
      reconnectTimeWait: retryEveryMs,
      reconnectJitter: 50,
      // A server that is lost without closing its connections is noticed after three pings.
      pingInterval: 2_000,
      // Credentials may be late or in rotation; giving up forever would need a restart of the process.
      ignoreAuthErrorAbort: true,
      timeout: options.dialTimeoutMs ?? Math.max(100, Math.min(deadline - performance.now(), dialTimeoutMs)),
    });
  // The last attempt may end by the deadline, which does not show the cause.
  let reason: unknown;
  const dialAndRemember = (): Promise<NatsConnection> =>
    dialOnce().catch((error: unknown) => {
      if (reason === undefined || !isTimeout(error)) reason = error;
      throw error;
    });
  try {
    const withinMs = deadline - retryEveryMs - performance.now();
    return await retry(dialAndRemember, { firstMs: retryEveryMs, withinMs, isTransient: (error) => !isCredentialError(error) });
  } catch (error) {
    throw cannotConnect(servers, reason ?? error);
  }
}

const readerOf =
  (file: string | undefined, credentials: string): (() => string) =>
  () =>
    file === undefined ? credentials : readFileSync(file, "utf8");

/** The client reads the files for each connection. With these options it refuses a server without TLS. */
function tlsOptions(servers: string, { ca, certificate, key }: ClientFiles): TlsOptions & Pick<ConnectionOptions, "checkServerIdentity"> {
  const hosts = servers.split(",").map((server) => new URL(server.includes("://") ? server : `nats://${server}`).hostname);
  return {
    ...(ca === undefined ? {} : { caFile: ca }),
    ...(certificate === undefined ? {} : { certFile: certificate }),
    ...(key === undefined ? {} : { keyFile: key }),
    // Passed on to Node, though the type of the options omits it.
    checkServerIdentity: identityOf(hosts.map((host) => host.replace(/^\[|\]$/g, ""))),
  };
}

const isTimeout = (error: unknown): boolean => error instanceof Error && /timeout/i.test(`${error.name} ${error.message}`);

const isCredentialError = (error: unknown): boolean =>
  error instanceof AuthorizationError ||
  error instanceof UserAuthenticationExpiredError ||
  (error instanceof Error && /authorization/i.test(`${error.name} ${error.message}`));

function cannotConnect(servers: string, cause: unknown): Unavailable {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Unavailable(
    `cannot connect to NATS at ${servers}: ${why}; start nats-server 2.14 or later there, with JetStream, or set NATS_URL`,
    { cause },
  );
}
