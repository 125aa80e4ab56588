import type { Sendable } from "../../runtime/bridge.ts";
import { toBytes } from "../buffer/bytes.ts";
import { unsupported } from "../errors.ts";

/** What the host's parser of TLS options takes. */
export type TlsSettings = { readonly [name: string]: Sendable };

/** The options that decide about trust and identity; undefined when none is given. */
export function pickTls(options: Readonly<Record<string, unknown>>): TlsSettings | undefined {
  const { servername, rejectUnauthorized, ca, cert, key, passphrase, ALPNProtocols, pfx } = options;
  if (pfx !== undefined && pfx !== null) throw unsupported("the TLS option pfx", "give cert and key in PEM");
  const settings: Record<string, Sendable> = {
    ...(typeof servername === "string" ? { servername } : {}),
    ...(rejectUnauthorized === false ? { rejectUnauthorized } : {}),
    ...(isGiven(ca) ? { ca: (Array.isArray(ca) ? ca : [ca]).map(pem) } : {}),
    ...(isGiven(cert) ? { cert: pem(first(cert)) } : {}),
    ...(isGiven(key) ? { key: pem(first(key)) } : {}),
    ...(typeof passphrase === "string" ? { passphrase } : {}),
    ...(Array.isArray(ALPNProtocols) ? { alpn: ALPNProtocols.map(String) } : {}),
  };
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function first(value: unknown): unknown {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  return typeof one === "object" && one !== null && "pem" in one ? one.pem : one;
}

function pem(value: unknown): string | Uint8Array {
  return typeof value === "string" ? value : toBytes(value);
}
