import { createCipheriv, createDecipheriv, getCipherInfo, type CipherGCM, type DecipherGCM } from "node:crypto";
import { bytesArgument, choiceArgument, integerArgument, ownedBytes, recordArgument, textArgument } from "./arguments.ts";
import type { OperationContext, SyncOperation } from "./context.ts";
import { secretKey } from "./crypto-keys.ts";

type Cipher = CipherGCM | DecipherGCM;
interface Ciphers {
  next: number;
  readonly open: Map<number, Cipher>;
}

const maxBytes = 64 * 1024 * 1024;
const maxOpen = 200;
const authenticated = /gcm|ccm|ocb|poly1305/i;

/**
 * `crypto.cipher(id, spec, data, final)` → `{id, data, tag?}`. The first call opens a cipher (id 0 and a spec), the last one closes
 * it; one that is opened and finished at once never gets an id.
 */
const cipher: SyncOperation = (context, [id, spec, data, final]) => {
  const ciphers = ciphersOf(context);
  const known = id === 0 ? undefined : ciphers.open.get(integerArgument(id, "id", 1, Number.MAX_SAFE_INTEGER));
  if (id !== 0 && known === undefined) throw Object.assign(new Error("the cipher is finished"), { code: "ERR_CRYPTO_INVALID_STATE" });
  const current = known ?? open(recordArgument(spec, "cipher"));
  if (known !== undefined && spec !== null) configure(current, recordArgument(spec, "cipher"));
  const bytes = data === null ? new Uint8Array(0) : bytesArgument(data, "data", maxBytes);
  if (final === true) {
    ciphers.open.delete(Number(id));
    const result = Buffer.concat([data === null ? bytes : current.update(bytes), current.final()]);
    return {
      id: 0,
      data: ownedBytes(result),
      tag: "getAuthTag" in current && spec !== undefined ? tagOf(current) : undefined,
    };
  }
  return { id: known === undefined ? keep(ciphers, current) : Number(id), data: ownedBytes(current.update(bytes)) };
};

function tagOf(cipher: CipherGCM): Uint8Array | undefined {
  try {
    return ownedBytes(cipher.getAuthTag());
  } catch {
    return undefined; // not an authenticated mode
  }
}

function open(spec: Readonly<Record<string, unknown>>): Cipher {
  const algorithm = textArgument(spec["algorithm"], "algorithm", 64);
  const direction = choiceArgument(spec["direction"], "direction", ["encrypt", "decrypt"]);
  const iv = spec["iv"] === null ? null : bytesArgument(spec["iv"], "iv", 1024);
  const tagBytes = spec["authTagLength"] === undefined ? undefined : integerArgument(spec["authTagLength"], "authTagLength", 1, 32);
  const create = direction === "encrypt" ? createCipheriv : createDecipheriv;
  // The overloads know a few algorithms by name; the options fit all of them at run time.
  const cipher = create(
    algorithm as "aes-256-gcm",
    secretKey(spec["key"]),
    iv as Uint8Array,
    tagBytes === undefined ? undefined : { authTagLength: tagBytes },
  );
  configure(cipher, spec);
  return cipher;
}

function configure(cipher: Cipher, spec: Readonly<Record<string, unknown>>): void {
  if (typeof spec["padding"] === "boolean") cipher.setAutoPadding(spec["padding"]);
  if (spec["tag"] !== undefined && "setAuthTag" in cipher) cipher.setAuthTag(bytesArgument(spec["tag"], "tag", 32));
  if (spec["aad"] !== undefined) {
    const length =
      spec["plaintextLength"] === undefined ? undefined : integerArgument(spec["plaintextLength"], "plaintextLength", 0, maxBytes);
    cipher.setAAD(bytesArgument(spec["aad"], "aad", 1024 * 1024), length === undefined ? undefined : { plaintextLength: length });
  }
}

function keep(ciphers: Ciphers, cipher: Cipher): number {
  // Whoever starts ciphers and never finishes them loses the oldest.
  if (ciphers.open.size >= maxOpen) ciphers.open.delete(ciphers.open.keys().next().value ?? 0);
  ciphers.next += 1;
  ciphers.open.set(ciphers.next, cipher);
  return ciphers.next;
}

function ciphersOf(context: OperationContext): Ciphers {
  const known = context.state.get("crypto:ciphers");
  if (known !== undefined) return known as Ciphers; // only written below
  const ciphers: Ciphers = { next: 0, open: new Map() };
  context.state.set("crypto:ciphers", ciphers);
  return ciphers;
}

const cipherInfo: SyncOperation = (_context, [name, given]) => {
  const options = recordArgument(given, "options");
  const keyLength = options["keyLength"] === undefined ? undefined : integerArgument(options["keyLength"], "keyLength", 0, 1024);
  const ivLength = options["ivLength"] === undefined ? undefined : integerArgument(options["ivLength"], "ivLength", 0, 1024);
  const algorithm = typeof name === "number" ? integerArgument(name, "nid", 0, 10_000) : textArgument(name, "algorithm", 64);
  const info = getCipherInfo(algorithm, {
    ...(keyLength === undefined ? {} : { keyLength }),
    ...(ivLength === undefined ? {} : { ivLength }),
  });
  return info === undefined ? undefined : { ...info, authenticated: authenticated.test(info.name) };
};

export const cipherSync: Record<string, SyncOperation> = { "crypto.cipher": cipher, "crypto.cipherInfo": cipherInfo };
