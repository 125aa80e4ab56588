import { Agent, type Dispatcher, ProxyAgent } from "undici";
import type { ClusterAccess, TlsMaterial } from "./access.ts";

/** Two sets of connections: requests share a few, and each watch keeps one to itself for minutes. */
export interface Transport {
  readonly requests: Dispatcher;
  readonly watches: Dispatcher;
}

export interface Transports {
  /** Those for this material; others are closed once what goes over them has ended. */
  for(tls: TlsMaterial): Transport;
  close(): Promise<void>;
}

export interface TransportOptions {
  /** Of the requests. */
  readonly connections: number;
  readonly timeoutMs: number;
  /** A watch over which nothing came for so long is taken for dead. */
  readonly silenceMs: number;
}

const connectTimeoutMs = 5_000;

/** Certificates change while we run (authority, credential plugin): then new connections are made with the new ones. */
export function createTransports(access: ClusterAccess, options: TransportOptions): Transports {
  let current: { readonly tls: TlsMaterial; readonly transport: Transport } | undefined;
  return {
    for(tls) {
      if (current !== undefined && isSame(current.tls, tls)) return current.transport;
      const former = current?.transport;
      current = { tls, transport: createTransport(access, tls, options) };
      // Nobody waits for it: a watch may go on over the old connection until the server ends it.
      for (const each of [former?.requests, former?.watches]) each?.close().catch(() => undefined);
      return current.transport;
    },
    async close() {
      await Promise.all([current?.transport.requests.destroy(), current?.transport.watches.destroy()]);
    },
  };
}

function createTransport(
  { proxyUrl }: ClusterAccess,
  tls: TlsMaterial,
  { connections, timeoutMs, silenceMs }: TransportOptions,
): Transport {
  const connect = {
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls.key === undefined ? {} : { key: tls.key }),
    ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
    ...(tls.insecure === true ? { rejectUnauthorized: false } : {}),
    timeout: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelay: 15_000,
  };
  const make = (of: { connections?: number; bodyTimeout: number }): Dispatcher => {
    // undici speaks HTTP/2 where the server offers it; closing then throws the end of its streams at the whole process.
    const common = { ...of, allowH2: false, headersTimeout: timeoutMs, keepAliveTimeout: 30_000 };
    return proxyUrl === undefined ? new Agent({ ...common, connect }) : new ProxyAgent({ ...common, uri: proxyUrl, requestTls: connect });
  };
  return { requests: make({ connections, bodyTimeout: timeoutMs }), watches: make({ bodyTimeout: silenceMs }) };
}

function isSame(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key && a.serverName === b.serverName && a.insecure === b.insecure;
}
