const pbkdf2Oid = Buffer.from("06092a864886f70d01050c", "hex");
const pbes2Oid = Buffer.from("06092a864886f70d01050d", "hex");
const maxIterations = 1_000_000;

/**
 * Refuses encrypted private keys that take long to open. The file itself says how many rounds its password is hashed, and a
 * hostile one says two thousand million. Only PKCS #8 with PBES2 and PBKDF2 is accepted (what OpenSSL writes), and the old
 * `Proc-Type: 4,ENCRYPTED` form, which hashes once.
 */
export function checkEncryptedKey(key: string | Uint8Array): void {
  const der = derOf(key);
  if (der === undefined) return;
  const at = der.indexOf(pbkdf2Oid);
  const rounds = at === -1 ? undefined : iterationsAfter(der, at + pbkdf2Oid.length);
  if (rounds === undefined || rounds > maxIterations || der.indexOf(pbkdf2Oid, at + 1) !== -1) {
    throw Object.assign(new RangeError(`the encrypted key must use PBKDF2 with at most ${maxIterations} iterations`), {
      code: "limit_exceeded",
    });
  }
}

/** The bytes of an encrypted PKCS #8 key; undefined when the key is not one. */
function derOf(key: string | Uint8Array): Buffer | undefined {
  const text = typeof key === "string" ? key : Buffer.from(key).toString("latin1");
  const blocks = text.split("BEGIN ENCRYPTED PRIVATE KEY").length - 1;
  if (blocks > 0) {
    // Exactly one, of nothing but base64: what is read here must be what OpenSSL reads.
    const body = /^\s*-----BEGIN ENCRYPTED PRIVATE KEY-----([A-Za-z0-9+/=\s]*)-----END ENCRYPTED PRIVATE KEY-----\s*$/.exec(text)?.[1];
    if (body === undefined)
      throw Object.assign(new TypeError("an encrypted key must be one PEM block without headers"), {
        code: "ERR_INVALID_ARG_VALUE",
      });
    return Buffer.from(body, "base64");
  }
  if (text.includes("-----BEGIN") || typeof key === "string") return undefined;
  const der = Buffer.from(key);
  return isPlain(der) ? undefined : der;
}

// Unencrypted DER starts with a version INTEGER (PKCS #1, PKCS #8, SEC 1) or is a public key, whose algorithm is no PBE scheme.
function isPlain(der: Buffer): boolean {
  const body = (der[1] ?? 0) < 0x80 ? 2 : 2 + ((der[1] ?? 0) & 0x7f);
  if (der[body] === 0x02) return true;
  const head = der.subarray(body, body + 40);
  return (
    !head.includes(pbes2Oid) &&
    !head.includes(Buffer.from("2a864886f70d0105", "hex")) &&
    !head.includes(Buffer.from("2a864886f70d010c01", "hex"))
  );
}

// PBKDF2-params ::= SEQUENCE { salt OCTET STRING, iterationCount INTEGER, … }
function iterationsAfter(der: Buffer, start: number): number | undefined {
  let at = start;
  if (der[at] !== 0x30 || (der[at + 1] ?? 0xff) >= 0x80) return undefined;
  at += 2;
  if (der[at] !== 0x04 || (der[at + 1] ?? 0xff) >= 0x80) return undefined;
  at += 2 + (der[at + 1] ?? 0);
  const length = der[at + 1] ?? 0;
  if (der[at] !== 0x02 || length < 1 || length > 4 || at + 2 + length > der.length) return undefined;
  return der.readUIntBE(at + 2, length);
}
