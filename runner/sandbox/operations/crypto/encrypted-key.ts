/** Contents of the OIDs of PBES2 and PBKDF2 (RFC 8018, appendix A). */
const pbes2 = "2a864886f70d01050d";
const pbkdf2 = "2a864886f70d01050c";
/** About 30 ms of the host's thread; OpenSSL writes 2,048. */
const maxIterations = 200_000;
const encryptedLabel = "-----BEGIN ENCRYPTED PRIVATE KEY-----";
const plainLabel = "-----BEGIN PRIVATE KEY-----";
const base64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;
const tags = { integer: 0x02, bits: 0x03, bytes: 0x04, oid: 0x06, sequence: 0x30 } as const;

/**
 * Refuses encrypted private keys that take long to open. The file itself says how many rounds its password is hashed, and a
 * hostile one says two thousand million. Only PKCS #8 with PBES2 and PBKDF2 is accepted (what OpenSSL writes), and the old
 * `Proc-Type: 4,ENCRYPTED` form, which hashes once. What is read here must be what OpenSSL reads, so a key is walked element by
 * element and in one spelling only: anything that could be read in two ways is refused.
 */
export function checkEncryptedKey(key: string | Uint8Array, format: "pem" | "der"): void {
  if (format === "der") return checkDer(Buffer.from(key));
  const text = typeof key === "string" ? key : Buffer.from(key).toString("latin1");
  if (text.includes("BEGIN ENCRYPTED PRIVATE KEY")) return checkEncryptedPem(text);
  // OpenSSL opens what is encrypted under this label too, however it came there.
  for (const block of text.split(plainLabel).slice(1)) {
    const body = block.slice(0, block.indexOf("-----END"));
    if (!base64.test(body)) throw malformed("a key must be one PEM block without headers");
    checkDer(Buffer.from(body, "base64"));
  }
}

function checkEncryptedPem(text: string): void {
  const trimmed = text.trim();
  const end = trimmed.lastIndexOf("-----END ENCRYPTED PRIVATE KEY-----");
  const body = trimmed.slice(encryptedLabel.length, end);
  if (!trimmed.startsWith(encryptedLabel) || end === -1 || !base64.test(body) || !trimmed.endsWith("KEY-----"))
    throw malformed("an encrypted key must be one PEM block without headers");
  checkRounds(Buffer.from(body, "base64"));
}

/** Keys that are not encrypted begin with a version (PKCS #1, PKCS #8, SEC 1), public ones have bits behind their algorithm. */
function checkDer(der: Buffer): void {
  if (der[0] !== tags.sequence) return; // No key at all.
  // OpenSSL takes lengths that are written longer than they need be; no key has them.
  const [first, second] = children(elementAt(der, 0)) ?? [];
  if (first?.tag === tags.integer || (first?.tag === tags.sequence && second?.tag === tags.bits)) return;
  checkRounds(der);
}

function checkRounds(der: Buffer): void {
  const rounds = iterationsOf(der);
  if (rounds !== undefined && rounds >= 1 && rounds <= maxIterations) return;
  throw Object.assign(new RangeError(`the encrypted key must use PBKDF2 with at most ${maxIterations} iterations`), {
    code: "limit_exceeded",
  });
}

/** EncryptedPrivateKeyInfo (RFC 5958, 3) → PBES2-params → PBKDF2-params (RFC 8018, A.4, A.2); undefined for anything else. */
function iterationsOf(der: Buffer): number | undefined {
  const [algorithm, data] = children(elementAt(der, 0)) ?? [];
  if (data?.tag !== tags.bytes) return undefined;
  const [derivation] = children(parametersOf(algorithm, pbes2)) ?? [];
  const [salt, iterations] = children(parametersOf(derivation, pbkdf2)) ?? [];
  if (salt?.tag !== tags.bytes || iterations?.tag !== tags.integer) return undefined;
  const { length } = iterations.body;
  return length >= 1 && length <= 4 ? iterations.body.readIntBE(0, length) : undefined;
}

/** Of an AlgorithmIdentifier with that OID. */
function parametersOf(algorithm: Element | undefined, oid: string): Element | undefined {
  const [name, parameters] = children(algorithm) ?? [];
  return name?.tag === tags.oid && name.body.toString("hex") === oid ? parameters : undefined;
}

interface Element {
  readonly tag: number;
  readonly body: Buffer;
  /** Where the next one begins. */
  readonly end: number;
}

/** All elements of a SEQUENCE; undefined when it is none, or one of them is not DER. */
function children(sequence: Element | undefined): Element[] | undefined {
  if (sequence?.tag !== tags.sequence) return undefined;
  const found: Element[] = [];
  for (let at = 0; at < sequence.body.length;) {
    const element = elementAt(sequence.body, at);
    if (element === undefined) return undefined;
    found.push(element);
    at = element.end;
  }
  return found;
}

/** Definite lengths in their shortest form only (X.690, 10.1). */
function elementAt(der: Buffer, start: number): Element | undefined {
  const tag = der[start];
  const first = der[start + 1];
  if (tag === undefined || first === undefined) return undefined;
  const count = first < 0x80 ? 0 : first & 0x7f;
  const body = start + 2 + count;
  if ((first >= 0x80 && (count < 1 || count > 3)) || body > der.length) return undefined;
  const length = count === 0 ? first : der.readUIntBE(start + 2, count);
  const isShortest = count === 0 || (count === 1 ? length >= 0x80 : length >= 2 ** (8 * (count - 1)));
  if (!isShortest || body + length > der.length) return undefined;
  return { tag, body: der.subarray(body, body + length), end: body + length };
}

const malformed = (message: string): Error => Object.assign(new TypeError(message), { code: "ERR_INVALID_ARG_VALUE" });
