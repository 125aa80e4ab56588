import { createHash, createPrivateKey, type KeyObject } from "node:crypto";
import { createSecureContext, DEFAULT_CIPHERS, type SecureContext } from "node:tls";
import type { OperationContext } from "../context.ts";
import { checkEncryptedKey } from "../crypto/encrypted-key.ts";
import type { TlsOptions } from "./socket-options.ts";
import { charged } from "../sync-meter.ts";

export interface SecuredOptions extends TlsOptions {
  readonly ciphers: string;
  readonly secureContext?: SecureContext;
}

/**
 * Excludes finite-field Diffie-Hellman, where the server chooses the group: with one of 10,000 bits, each handshake blocks all isolates of
 * the process for seconds. Browsers exclude it as well; elliptic curves serve the same purpose.
 */
const ciphers = `${DEFAULT_CIPHERS}:!kDHE`;
/** A signature takes some 10 ms with this size, and nearly a second with 16,384 bits. */
const maxKeyBits = 4096;
const maxContexts = 20;

/**
 * What a connection is made with. Certificates and keys are read once for each isolate that names them, and what that takes is charged
 * to its share of the host's thread: they are as long as user code likes, and are read on each connection otherwise.
 */
export function secured(context: OperationContext, options: TlsOptions): SecuredOptions {
  const { ca, cert, key, passphrase } = options;
  if (ca === undefined && cert === undefined && key === undefined) return { ...options, ciphers };
  const contexts = contextsOf(context);
  const hash = createHash("sha256");
  for (const part of [passphrase, cert, key, ...(ca ?? [])]) hash.update(`${part === undefined ? "-" : part.length}:`).update(part ?? "");
  const name = hash.digest("base64");
  const known = contexts.get(name);
  const secureContext = known ?? charged(context, () => create(options));
  if (known === undefined) contexts.set(name, secureContext);
  const [oldest] = contexts.keys();
  if (contexts.size > maxContexts && oldest !== undefined) contexts.delete(oldest);
  return { ...options, ciphers, secureContext };
}

function create({ ca, cert, key, passphrase }: TlsOptions): SecureContext {
  if (key !== undefined) {
    checkEncryptedKey(key, "pem");
    checkSize(readKey(key, passphrase));
  }
  return createSecureContext({
    ciphers,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(passphrase === undefined ? {} : { passphrase }),
  });
}

/** What is no key TLS says in its own words. */
function readKey(key: string | Buffer, passphrase: string | undefined): KeyObject | undefined {
  try {
    return createPrivateKey({ key, ...(passphrase === undefined ? {} : { passphrase }) });
  } catch {
    return undefined;
  }
}

function checkSize(key: KeyObject | undefined): void {
  if ((key?.asymmetricKeyDetails?.modulusLength ?? 0) <= maxKeyBits) return;
  throw Object.assign(new RangeError(`RSA keys of TLS may have at most ${maxKeyBits} bits`), { code: "limit_exceeded" });
}

function contextsOf({ state }: OperationContext): Map<string, SecureContext> {
  const known = state.get("tls:contexts");
  if (known !== undefined) return known as Map<string, SecureContext>; // only written below
  const contexts = new Map<string, SecureContext>();
  state.set("tls:contexts", contexts);
  return contexts;
}
