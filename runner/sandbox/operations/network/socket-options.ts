import { bytesArgument, integerArgument, recordArgument, textArgument } from "../arguments.ts";
import { isIP } from "node:net";

export interface SocketTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions | undefined;
}

export interface TlsOptions {
  readonly servername?: string;
  readonly rejectUnauthorized: boolean;
  readonly ca?: Pem[];
  readonly cert?: Pem;
  readonly key?: Pem;
  readonly passphrase?: string;
  readonly ALPNProtocols?: string[];
}

type Pem = string | Buffer;
const maxPemBytes = 512 * 1024;
/** Of all authorities together: those of the browsers have a quarter of it. Certificates are read on the thread that all isolates share. */
const maxAuthorityBytes = 1024 * 1024;

/** `{host, port, tls}`; `tls` as `parseTls` takes it, or null for plain TCP. */
export function parseTarget(given: unknown): SocketTarget {
  const { host, port, tls } = recordArgument(given, "socket options");
  return {
    host: textArgument(host, "host", 1024),
    port: integerArgument(port, "port", 1, 65_535),
    tls: tls === null || tls === undefined ? undefined : parseTls(tls),
  };
}

/** Only what decides about trust and identity: nothing here may name a file or an object of the host. */
export function parseTls(given: unknown): TlsOptions {
  const { servername, rejectUnauthorized, ca, cert, key, passphrase, alpn } = recordArgument(given, "TLS options");
  return {
    rejectUnauthorized: rejectUnauthorized !== false,
    ...(servername === undefined ? {} : { servername: textArgument(servername, "servername", 1024) }),
    ...(ca === undefined ? {} : { ca: authorities(ca) }),
    ...(cert === undefined ? {} : { cert: pem(cert, "cert") }),
    ...(key === undefined ? {} : { key: pem(key, "key") }),
    ...(passphrase === undefined ? {} : { passphrase: textArgument(passphrase, "passphrase", 4096) }),
    ...(alpn === undefined ? {} : { ALPNProtocols: list(alpn, "ALPNProtocols").map((one) => textArgument(one, "ALPNProtocols", 255)) }),
  };
}

/** The name a certificate must carry: what the caller says, else the host; an address is no server name (RFC 6066, 3). */
export function serverName(options: TlsOptions, host: string): string {
  const name = options.servername ?? host;
  return isIP(name) === 0 ? name : "";
}

function authorities(given: unknown): Pem[] {
  const all = list(given, "ca").map((one) => pem(one, "ca"));
  if (all.reduce((bytes, { length }) => bytes + length, 0) <= maxAuthorityBytes) return all;
  throw Object.assign(new RangeError(`the certificates of ca are larger than ${maxAuthorityBytes} bytes`), { code: "limit_exceeded" });
}

function list(given: unknown, name: string): unknown[] {
  const items: unknown[] = Array.isArray(given) ? given : [given];
  return items.slice(0, 200).map((item) => (item === null ? textArgument(item, name, 0) : item));
}

function pem(given: unknown, name: string): Pem {
  if (typeof given === "string") return textArgument(given, name, maxPemBytes);
  const bytes = bytesArgument(given, name, maxPemBytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
