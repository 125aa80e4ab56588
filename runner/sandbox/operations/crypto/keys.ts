import { createPrivateKey, createPublicKey, createSecretKey, type JsonWebKeyInput, type KeyObject, type PublicKeyInput } from "node:crypto";
import { bytesArgument, choiceArgument, integerArgument, ownedBytes, recordArgument, textArgument } from "../arguments.ts";
import type { SyncOperation } from "../context.ts";
import { checkEncryptedKey } from "./encrypted-key.ts";

const maxKeyBytes = 64 * 1024;
const maxModulusBits = 8192;
/** RSA's public exponent is a factor of what an operation costs; keys in use have 17 bits, and standards allow 256 (FIPS 186-5, A.1.1). */
const maxExponentBits = 256n;
const keyTypes: readonly string[] = ["rsa", "rsa-pss", "ec", "ed25519", "ed448", "x25519", "x448"];

/**
 * A key as guests send it: `{kind?: "secret" | "private" | "public", key: text | bytes | JWK, format?, type?, passphrase?, …}`.
 * It is parsed for every operation. The host keeps no keys, so none can leak or accumulate.
 */
export type KeySpec = Readonly<Record<string, unknown>>;

export function secretKey(value: unknown): KeyObject {
  const spec = recordArgument(value, "key");
  return createSecretKey(Buffer.from(bytesOrText(spec["key"])));
}

export function privateKey(value: unknown): KeyObject {
  const spec = recordArgument(value, "key");
  if (spec["key"] !== null && typeof spec["key"] === "object" && !(spec["key"] instanceof Uint8Array))
    return bounded(createPrivateKey(jwkInput(spec)));
  return bounded(createPrivateKey(input(spec)));
}

/** The public key, also out of a private key or a certificate. */
export function publicKey(value: unknown): KeyObject {
  const spec = recordArgument(value, "key");
  if (spec["kind"] === "private") return bounded(createPublicKey(privateKey(spec)));
  if (spec["key"] !== null && typeof spec["key"] === "object" && !(spec["key"] instanceof Uint8Array))
    return bounded(createPublicKey(jwkInput(spec)));
  return bounded(createPublicKey(input(spec) as PublicKeyInput));
}

export function anyKey(value: unknown): KeyObject {
  const spec = recordArgument(value, "key");
  if (spec["kind"] === "secret") return secretKey(spec);
  return spec["kind"] === "public" ? publicKey(spec) : privateKey(spec);
}

function bytesOrText(value: unknown): string | Uint8Array {
  return typeof value === "string" ? textArgument(value, "key", maxKeyBytes) : bytesArgument(value, "key", maxKeyBytes);
}

function input(spec: KeySpec): {
  key: string | Buffer;
  format: "pem" | "der";
  type?: "pkcs1" | "pkcs8" | "sec1";
  passphrase?: string | Buffer;
} {
  const key = bytesOrText(spec["key"]);
  const format = spec["format"] === undefined ? "pem" : choiceArgument(spec["format"], "format", ["pem", "der"]);
  checkEncryptedKey(key, format);
  const type = spec["type"] === undefined ? undefined : choiceArgument(spec["type"], "type", ["pkcs1", "pkcs8", "sec1", "spki"]);
  const passphrase = spec["passphrase"] === undefined ? undefined : bytesOrText(spec["passphrase"]);
  return {
    key: typeof key === "string" ? key : Buffer.from(key),
    format,
    // Node's types distinguish private from public encodings. OpenSSL refuses a wrong combination.
    ...(type === undefined ? {} : { type: type as "pkcs8" }),
    ...(passphrase === undefined ? {} : { passphrase: typeof passphrase === "string" ? passphrase : Buffer.from(passphrase) }),
  };
}

function jwkInput(spec: KeySpec): JsonWebKeyInput {
  const jwk = recordArgument(spec["key"], "key");
  const text = JSON.stringify(jwk);
  if (text.length > maxKeyBytes) throw Object.assign(new RangeError("key is too large"), { code: "limit_exceeded" });
  return { key: JSON.parse(text) as JsonWebKeyInput["key"], format: "jwk" }; // Node checks a JWK member by member
}

function bounded(key: KeyObject): KeyObject {
  const type = key.asymmetricKeyType ?? "";
  if (!keyTypes.includes(type))
    throw Object.assign(new Error(`keys of type ${type} are not available to components: use rsa, ec or ed25519`), {
      code: "ERR_SANDBOX_UNSUPPORTED",
    });
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) > maxModulusBits)
    throw Object.assign(new RangeError(`RSA keys may have at most ${maxModulusBits} bits`), { code: "limit_exceeded" });
  if ((key.asymmetricKeyDetails?.publicExponent ?? 0n) >> maxExponentBits > 0n)
    throw Object.assign(new RangeError(`the public exponent of an RSA key may have at most ${maxExponentBits} bits`), {
      code: "limit_exceeded",
    });
  return key;
}

/** Options that Node takes beside a key when it signs or encrypts. */
export function keyOptions(value: unknown): Record<string, unknown> {
  const spec = recordArgument(value, "key");
  const options: Record<string, unknown> = {};
  if (spec["padding"] !== undefined) options["padding"] = integerArgument(spec["padding"], "padding", 0, 10);
  if (spec["saltLength"] !== undefined) options["saltLength"] = integerArgument(spec["saltLength"], "saltLength", -2, 1024);
  if (spec["dsaEncoding"] !== undefined) options["dsaEncoding"] = choiceArgument(spec["dsaEncoding"], "dsaEncoding", ["der", "ieee-p1363"]);
  if (spec["oaepHash"] !== undefined) options["oaepHash"] = textArgument(spec["oaepHash"], "oaepHash", 64);
  if (spec["oaepLabel"] !== undefined) options["oaepLabel"] = bytesArgument(spec["oaepLabel"], "oaepLabel", 4096);
  return options;
}

const describeKey: SyncOperation = (_context, [kind, spec]) => {
  const key = kind === "public" ? publicKey(spec) : privateKey(spec);
  const details = key.asymmetricKeyDetails ?? {};
  // One canonical form for the guest to hold, however the key was written: no passphrase, no PEM.
  const der = key.type === "private" ? key.export({ type: "pkcs8", format: "der" }) : key.export({ type: "spki", format: "der" });
  return {
    type: key.type,
    asymmetricKeyType: key.asymmetricKeyType,
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, typeof value === "bigint" ? String(value) : value])),
    der: ownedBytes(der),
  };
};

const exportKey: SyncOperation = (_context, [spec, given]) => {
  const key = anyKey(spec);
  const options = recordArgument(given, "options");
  const format = options["format"] === undefined ? undefined : choiceArgument(options["format"], "format", ["pem", "der", "jwk", "buffer"]);
  const type = options["type"] === undefined ? undefined : choiceArgument(options["type"], "type", ["pkcs1", "pkcs8", "sec1", "spki"]);
  const cipher = options["cipher"] === undefined ? undefined : textArgument(options["cipher"], "cipher", 64);
  const passphrase = options["passphrase"] === undefined ? undefined : bytesOrText(options["passphrase"]);
  const wanted = {
    format,
    type,
    ...(cipher === undefined
      ? {}
      : {
          cipher,
          passphrase: typeof passphrase === "string" || passphrase === undefined ? passphrase : Buffer.from(passphrase),
        }),
  };
  // Node's overloads tie format to type; at run time Node checks them itself.
  const exported: unknown = key.export(wanted as unknown as { format: "jwk" });
  return exported instanceof Uint8Array ? ownedBytes(exported) : exported;
};

/**
 * `crypto.describeKey(kind, key)` → type, details and the key as DER (PKCS #8 or SPKI); `crypto.exportKey(key, options)` → bytes,
 * PEM text or a JWK.
 */
export const keySync: Record<string, SyncOperation> = {
  "crypto.describeKey": describeKey,
  "crypto.exportKey": exportKey,
};
