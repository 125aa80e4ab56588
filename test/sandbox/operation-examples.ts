import { generateKeyPairSync } from "node:crypto";
import { gzipSync } from "node:zlib";
import { certificate, privateKey } from "./net/certificate.ts";

/** Valid arguments of a host operation, and the calls that must come before it in the same isolate. */
export interface Example {
  readonly before?: readonly (readonly [operation: string, ...args: unknown[]])[];
  readonly args: readonly unknown[];
}

const rsa = generateKeyPairSync("rsa", { modulusLength: 1024 });
const rsaPrivate = rsa.privateKey.export({ type: "pkcs8", format: "pem" });
const rsaPublic = rsa.publicKey.export({ type: "spki", format: "pem" });
const x25519 = generateKeyPairSync("x25519");
const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(7);
const point = generateKeyPairSync("ec", { namedCurve: "prime256v1" }).publicKey.export({ type: "spki", format: "der" }).subarray(-65);
const secret = { kind: "secret", key: bytes(32) };
const cipher = {
  algorithm: "aes-256-gcm",
  direction: "encrypt",
  key: secret,
  iv: bytes(12),
  authTagLength: 16,
  aad: bytes(3),
  plaintextLength: 5,
  padding: true,
};
const tls = { servername: "localhost", ca: [certificate], alpn: ["x"], cert: certificate, key: privateKey, passphrase: "p" };

/** By operation. */
export type Examples = Readonly<Record<string, readonly Example[]>>;

export const syncExamples: Examples = {
  "crypto.digest": [
    { args: [0, { kind: "hash", algorithm: "shake256", outputLength: 8 }, bytes(3), true] },
    { args: [0, { kind: "hmac", algorithm: "sha256", key: secret }, bytes(3), true] },
    {
      args: [
        0,
        { kind: "sign", algorithm: "sha256", key: { key: rsaPrivate, padding: 6, saltLength: 20, dsaEncoding: "der" } },
        bytes(3),
        true,
      ],
    },
    { args: [0, { kind: "verify", algorithm: "sha256", key: { kind: "public", key: rsaPublic }, signature: bytes(128) }, bytes(3), true] },
    { args: [0, { kind: "sign", algorithm: null, key: { key: rsaPrivate } }, bytes(3), true] },
    { before: [["crypto.digest", 0, { kind: "hash", algorithm: "sha256" }, bytes(3), false]], args: [1, null, bytes(3), true] },
  ],
  "crypto.isHash": [{ args: ["sha256"] }],
  "crypto.cipher": [
    { args: [0, cipher, bytes(5), true] },
    { args: [0, { ...cipher, direction: "decrypt", tag: bytes(16) }, bytes(5), false] },
    { before: [["crypto.cipher", 0, cipher, bytes(5), false]], args: [1, { aad: bytes(1), plaintextLength: 1 }, bytes(5), true] },
  ],
  "crypto.cipherInfo": [{ args: ["aes-256-gcm", { keyLength: 32, ivLength: 12 }] }, { args: [901, {}] }],
  "crypto.cipherLimits": [{ args: ["aes-256-cbc"] }],
  "crypto.rsa": [
    { args: ["publicEncrypt", { kind: "public", key: rsaPublic, padding: 4, oaepHash: "sha1", oaepLabel: bytes(2) }, bytes(3)] },
    { args: ["privateEncrypt", { key: rsaPrivate }, bytes(3)] },
  ],
  "crypto.describeKey": [
    { args: ["private", { key: rsaPrivate, format: "pem", type: "pkcs8", passphrase: "p" }] },
    { args: ["public", { key: rsa.publicKey.export({ format: "jwk" }) }] },
  ],
  "crypto.exportKey": [
    {
      args: [
        { kind: "private", key: rsaPrivate },
        { format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: "p" },
      ],
    },
    { args: [secret, { format: "jwk" }] },
  ],
  "crypto.hkdf": [{ args: ["sha256", bytes(4), bytes(4), bytes(4), 16] }],
  "crypto.ecdh": [{ args: ["prime256v1", bytes(32), new Uint8Array(point), "compressed"] }],
  "crypto.ecdhConvert": [{ args: [new Uint8Array(point), "prime256v1", "compressed"] }],
  "crypto.dhGroup": [{ args: ["modp14"] }],
  "crypto.diffieHellman": [
    {
      args: [
        { kind: "private", key: x25519.privateKey.export({ type: "pkcs8", format: "pem" }) },
        { kind: "public", key: x25519.publicKey.export({ type: "spki", format: "pem" }) },
      ],
    },
  ],
  "crypto.lists": [{ args: [] }],
  "crypto.certificate": [{ args: [Buffer.from(certificate)] }],
  "crypto.checkCertificate": [
    { args: [Buffer.from(certificate), "host", "localhost"] },
    { args: [Buffer.from(certificate), "issued", Buffer.from(certificate)] },
    { args: [Buffer.from(certificate), "privateKey", { key: privateKey }] },
  ],
  domain_to_ascii: [{ args: ["bücher.example"] }],
  domain_to_unicode: [{ args: ["xn--bcher-kva.example"] }],
  random: [{ args: [16] }],
  zlib: [{ args: ["gunzip", gzipSync("x"), { chunkSize: 64, maxOutputLength: 10, dictionary: bytes(4), params: { 1: 2 } }] }],
  wait_begin: [{ args: ["crypto.pbkdf2", [bytes(1), bytes(1), 1, 8, "sha1"]] }],
  wait_poll: [{ before: [["wait_begin", "crypto.pbkdf2", [bytes(1), bytes(1), 1, 8, "sha1"]]], args: [1] }],
};

const derivations: Examples = {
  "crypto.pbkdf2": [{ args: [bytes(1), bytes(1), 1, 8, "sha256"] }],
  "crypto.scrypt": [{ args: [bytes(1), bytes(1), 8, { N: 16, r: 1, p: 1, maxmem: 2 ** 20 }] }],
  "crypto.generateKeyPair": [
    { args: ["ec", { namedCurve: "prime256v1" }] },
    { args: ["rsa-pss", { modulusLength: 512, publicExponent: 3, hashAlgorithm: "sha1", mgf1HashAlgorithm: "sha1", saltLength: 20 }] },
  ],
  zlib: [{ args: ["deflate", bytes(9), { level: 9, windowBits: 15, memLevel: 8, strategy: 0, flush: 0, finishFlush: 4 }] }],
};

const files: Examples = {
  file_list: [{ args: [] }],
  file_read: [{ args: [`${"0".repeat(32)}-3`] }],
  file_write: [{ args: [bytes(3)] }],
};

/** Pieces of a response. */
const respond: Examples = { respond_piece: [{ args: [bytes(3), true] }] };

export const waitedExamples: Examples = { ...derivations, ...files };

/** @param port of a server on loopback that ends each connection when something comes */
export const asyncExamples = (port: number): Examples => ({
  ...derivations,
  ...files,
  ...respond,
  data_store: [
    { args: ["store", { kind: "set", key: "a", value: "1", ttlSeconds: 5, ifVersion: 0 }] },
    { args: ["store", { kind: "list", after: "a", limit: 3, withValues: true }] },
  ],
  dns: [{ args: ["lookup", "private.test"] }, { args: ["MX", "router.lan"] }],
  fetch: [
    {
      args: [
        {
          id: 1,
          url: `https://127.0.0.1:${port}/x`,
          method: "POST",
          headers: [["a", "b"]],
          redirect: "follow",
          raw: false,
          path: "/x",
          tls,
        },
        bytes(3),
      ],
    },
  ],
  subtle: [
    { args: ["digest", ["SHA-256", bytes(3)]] },
    { args: ["importKey", ["raw", bytes(32), { name: "HMAC", hash: "SHA-256", length: 256 }, true, ["sign"]]] },
    {
      before: [["subtle", "importKey", ["raw", bytes(32), { name: "AES-GCM" }, true, ["encrypt"]]]],
      args: ["encrypt", [{ name: "AES-GCM", iv: bytes(12), additionalData: bytes(2), tagLength: 128 }, { key: 1 }, bytes(5)]],
    },
    {
      before: [["subtle", "importKey", ["raw", bytes(8), "PBKDF2", false, ["deriveBits"]]]],
      args: ["deriveBits", [{ name: "PBKDF2", hash: "SHA-256", salt: bytes(8), iterations: 10 }, { key: 1 }, 128]],
    },
    {
      args: [
        "generateKey",
        [{ name: "RSA-PSS", modulusLength: 512, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-1" }, true, ["sign"]],
      ],
    },
  ],
  zlib_write: [
    { args: [1, "gzip", { level: 1, chunkSize: 64 }, bytes(9), 2] },
    { args: [1, "brotliCompress", { params: { 1: 5 } }, null, null] },
  ],
});

/** @param port as above */
export const postExamples = (port: number): Examples => {
  const opened = [["socket_open", 1, { host: "127.0.0.1", port, tls: null }]] as const;
  return {
    fetch_pull: [{ args: [1] }],
    fetch_abort: [{ args: [1] }],
    socket_open: [{ args: [1, { host: "127.0.0.1", port, tls }] }],
    socket_write: [{ before: opened, args: [1, bytes(3)] }],
    socket_end: [{ before: opened, args: [1] }],
    socket_destroy: [{ before: opened, args: [1] }],
    socket_pause: [{ before: opened, args: [1] }],
    socket_resume: [{ before: opened, args: [1] }],
    socket_tls: [{ before: opened, args: [1, tls] }],
    zlib_close: [{ args: [1] }],
  };
};
