import { readFileSync } from "node:fs";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { Unavailable } from "../../domain/errors.ts";

/** Files of a TLS client, in PEM. They are read for each new connection. */
export interface ClientFiles {
  /** Authorities that may sign the server's certificate. Undefined: the public ones that Node trusts. */
  readonly ca: string | undefined;
  /** The client's certificate and private key: both or neither. */
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** Options of `tls.connect`. */
export interface ClientOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** @throws Unavailable with the name of a file that cannot be read */
export function readClientFiles({ ca, certificate, key }: ClientFiles): ClientOptions {
  return {
    ...(ca === undefined ? {} : { ca: readPem(ca) }),
    ...(certificate === undefined ? {} : { cert: readPem(certificate) }),
    ...(key === undefined ? {} : { key: readPem(key) }),
  };
}

export function readPem(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";
    throw new Unavailable(`the certificate file ${file} cannot be read: ${code}`, { code: "certificate_unreadable", cause });
  }
}

/**
 * For `tls.connect`: accepts a certificate that names one of these hosts. A client that learned an address from its server, or resolved a
 * name itself, does not pass the host to Node, which would then expect a certificate of `localhost`.
 */
export function identityOf(hosts: readonly string[]): (host: string, certificate: PeerCertificate) => Error | undefined {
  return (_host, certificate) => {
    const mismatches = hosts.map((host) => checkServerIdentity(host, certificate));
    return mismatches.includes(undefined) ? undefined : mismatches[0];
  };
}

/** Codes of Node for a failed handshake or a rejected certificate. */
export const isTlsError = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  /^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|HOSTNAME_MISMATCH)/.test(
    String(error.code),
  );
