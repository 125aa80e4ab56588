import { Agent, type Dispatcher, ProxyAgent } from "undici";
import type { ClusterAccess, TlsMaterial } from "./access.ts";

/** Requests share a few connections; each watch keeps one for minutes. */
export interface Transport {
  readonly requests: Dispatcher;
  readonly watches: Dispatcher;
}

export interface Transports {
  /** Connections with these certificates. Previous ones are closed once their requests have ended. */
  for(tls: TlsMaterial): Transport;
  close(): Promise<void>;
}

export interface TransportOptions {
  /** For requests. */
  readonly connections: number;
  readonly timeoutMs: number;
  /** A watch that is silent for this long is considered dead. */
  readonly silenceMs: number;
}

const connectTimeoutMs = 5_000;

/** Opens new connections when certificates change (authority, credential plugin). */
export function createTransports(access: ClusterAccess, options: TransportOptions): Transports {
  let current: { readonly tls: TlsMaterial; readonly transport: Transport } | undefined;
  return {
    for(tls) {
      if (current !== undefined && isSame(current.tls, tls)) return current.transport;
      const former = current?.transport;
      current = { tls, transport: createTransport(access, tls, options) };
      // Not awaited: a watch may use the old connection until the server ends it.
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
    // undici uses HTTP/2 if offered; closing it then raises the end of its streams as an uncaught error.
    const common = { ...of, allowH2: false, headersTimeout: timeoutMs, keepAliveTimeout: 30_000 };
    return proxyUrl === undefined ? new Agent({ ...common, connect }) : new ProxyAgent({ ...common, uri: proxyUrl, requestTls: connect });
  };
  return { requests: make({ connections, bodyTimeout: timeoutMs }), watches: make({ bodyTimeout: silenceMs }) };
}

function isSame(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key && a.serverName === b.serverName && a.insecure === b.insecure;
}
