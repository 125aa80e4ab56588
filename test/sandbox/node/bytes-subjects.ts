import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { anyNumber, bytes, text, type Subject } from "./node-differential.ts";

/** `Buffer`, encodings, `crypto` and `zlib` beside Node's own, on generated inputs. */
const encoding = fc.constantFrom(
  "utf8",
  "utf-8",
  "UTF8",
  "hex",
  "base64",
  "base64url",
  "latin1",
  "binary",
  "ascii",
  "utf16le",
  "ucs2",
  "UCS-2",
);
const encoded = fc.oneof(
  text,
  fc
    .array(fc.constantFrom("0", "a", "F", "g", "=", "-", "_", "+", "/", "\n", " ", "A", "Q"), { maxLength: 12 })
    .map((parts) => parts.join("")),
);
/** Node looks at half of such characters, whatever comes of it. */
const isOddBase64 = (text: string, name: string): string => `/base64|hex/i.test(${name}) && /[^\\x00-\\xff]/.test(${text})`;
const offset = fc.oneof(fc.integer({ min: -3, max: 12 }), fc.constantFrom(1.5, -0.5));

const numeric = [
  "UInt8",
  "UInt16LE",
  "UInt16BE",
  "UInt32LE",
  "UInt32BE",
  "Int8",
  "Int16LE",
  "Int16BE",
  "Int32LE",
  "Int32BE",
  "FloatLE",
  "FloatBE",
  "DoubleLE",
  "DoubleBE",
];

const [rsa, ed25519, ec] = [
  generateKeyPairSync("rsa", {
    modulusLength: 1024,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  }),
  generateKeyPairSync("ed25519", {
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  }),
  generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  }),
];
const chunks = fc.array(bytes(30), { maxLength: 4 });

export const bytesSubjects: Readonly<Record<string, Subject>> = {
  "Buffer.from a text, toString, byteLength": {
    inputs: fc.tuple(encoded, encoding, encoding),
    body: `if (${isOddBase64("input[0]", "input[1]")}) return 0; const b = Buffer.from(input[0], input[1]); return [b, b.toString(input[2]), Buffer.byteLength(input[0], input[1]), b.toJSON()];`,
    runs: 600,
  },
  "Buffer.toString of any bytes, in part": {
    inputs: fc.tuple(bytes(), encoding, fc.option(anyNumber), fc.option(anyNumber)),
    body: `const b = Buffer.from(input[0]); return [b.toString(input[1]), attempt(() => b.toString(input[1], input[2] ?? undefined, input[3] ?? undefined))];`,
    runs: 400,
  },
  // Node fills with 0 for [-1] but with 255 for [-1.5]: negative numbers in an array are left out.
  "Buffer.from other things": {
    inputs: fc.oneof(
      fc.array(anyNumber, { maxLength: 6 }),
      fc.constantFrom(null, 5, true, {}, { length: 2, 0: 1, 1: 300 }, { type: "Buffer", data: [1, 2] }),
      bytes(),
    ),
    body: `return [attempt(() => Buffer.from(input)), attempt(() => Buffer.from(new Uint8Array(Array.isArray(input) ? input : 0).buffer, 1)), attempt(() => Buffer.alloc(3, Array.isArray(input) ? input.map(Math.abs) : input)), attempt(() => Buffer.from(Object("x")))];`,
  },
  "slices and subarrays": {
    inputs: fc.tuple(bytes(), offset, offset),
    body: `const b = Buffer.from(input[0]); const s = b.slice(input[1], input[2]), t = b.subarray(input[1]); if (t.length) t[0] ^= 1; return [s, t, b, Buffer.isBuffer(t), s.constructor.name, b.at(input[1]) ?? null];`,
    runs: 300,
  },
  write: {
    inputs: fc.tuple(encoded, fc.option(fc.integer({ min: -1, max: 12 })), fc.option(fc.integer({ min: -1, max: 12 })), encoding),
    body: `if (${isOddBase64("input[0]", "input[3]")}) return 0; const b = Buffer.alloc(10, 46); return [attempt(() => b.write(input[0], input[1] ?? undefined, input[2] ?? undefined, input[3])), b, attempt(() => b.write(input[0], input[3])), b];`,
    runs: 500,
  },
  "numbers read": {
    inputs: fc.tuple(bytes(12), fc.constantFrom(...numeric), fc.option(offset)),
    body: `const b = Buffer.from(input[0]); return attempt(() => b["read" + input[1]](input[2] ?? undefined));`,
    runs: 500,
  },
  "numbers written": {
    inputs: fc.tuple(anyNumber, fc.constantFrom(...numeric), fc.option(offset)),
    body: `const b = Buffer.alloc(10); return [attempt(() => b["write" + input[1]](input[0], input[2] ?? undefined)), b];`,
    runs: 500,
  },
  "integers of any size": {
    inputs: fc.tuple(
      bytes(12),
      fc.constantFrom("UIntLE", "UIntBE", "IntLE", "IntBE"),
      fc.integer({ min: -1, max: 8 }),
      fc.integer({ min: 0, max: 7 }),
      fc.integer(),
    ),
    body: `const b = Buffer.from(input[0]); return [attempt(() => b["read" + input[1]](input[2], input[3])), attempt(() => b["write" + input[1]](input[4], input[2], input[3])), b];`,
    runs: 400,
  },
  "64 bit integers": {
    inputs: fc.tuple(
      bytes(16),
      fc.constantFrom("BigInt64LE", "BigInt64BE", "BigUInt64LE", "BigUInt64BE"),
      fc.option(offset),
      fc.bigInt({ min: -(2n ** 64n), max: 2n ** 65n }).map(String),
    ),
    body: `const b = Buffer.from(input[0]); const at = input[2] ?? undefined; return [attempt(() => b["read" + input[1]](at)), attempt(() => b["write" + input[1]](BigInt(input[3]), at)), b];`,
    runs: 300,
  },
  searching: {
    inputs: fc.tuple(
      fc.array(fc.integer({ min: 97, max: 99 }), { maxLength: 12 }),
      fc.oneof(fc.constantFrom("a", "ab", "", "abc", "é", "6162"), fc.integer({ min: 95, max: 400 })),
      fc.option(offset),
      encoding,
    ),
    body: `const b = Buffer.from(input[0]); const at = input[2] ?? undefined; const of = [input[1], at, input[3]]; const hay = Buffer.from("xéaé€a"); if (input[1] === "") return 0; return [attempt(() => b.indexOf(...of)), attempt(() => b.lastIndexOf(...of)), attempt(() => b.includes(...of)), typeof input[1] === "string" ? [b.indexOf(Buffer.from(input[1]), at), b.lastIndexOf(new Uint8Array(Buffer.from(input[1])), at), hay.indexOf(input[1])] : 0];`,
    runs: 500,
  },
  "fill, copy, set, concat, compare": {
    inputs: fc.tuple(bytes(12), bytes(12), offset, offset, encoding, encoded),
    body: `const [a, b] = [Buffer.from(input[0]), Buffer.from(input[1])]; const [, , from, to, enc, text] = input; if (${isOddBase64("text", "enc")}) return 0; const t = Buffer.alloc(8); return [attempt(() => a.copy(t, from, to)), t, Buffer.concat([a, b]), attempt(() => Buffer.concat([a, new Uint8Array(b)], from)), a.compare(b), attempt(() => a.compare(b, from, to)), a.equals(b), Buffer.compare(a, b), attempt(() => Buffer.alloc(7).fill(text, from, to, enc)), attempt(() => Buffer.alloc(5, text, enc)), attempt(() => Buffer.from(a).fill(b))];`,
    runs: 500,
  },
  "swaps, iteration, inspect, checks": {
    inputs: fc.tuple(bytes(16), text, fc.constantFrom("utf8", "latin1", "ucs2", "ascii", "hex")),
    body: `const b = Buffer.from(input[0]); const { isUtf8, isAscii, transcode } = require("buffer"); const c = () => Buffer.from(b); return [attempt(() => c().swap16()), attempt(() => c().swap32()), attempt(() => c().swap64()), [...b.entries()], require("util").inspect(b), isUtf8(b), isAscii(b), attempt(() => transcode(Buffer.from(input[1]), "utf8", input[2])), attempt(() => transcode(b, "latin1", "utf8")), b.reverse(), String(b.parent instanceof ArrayBuffer), Object.keys(b).length];`,
    runs: 300,
  },
  "TextEncoder and TextDecoder": {
    inputs: fc.tuple(
      chunks,
      fc.constantFrom("utf-8", "utf-16le", "utf-16be", "latin1", "utf8", "unicode-1-1-utf-8", "nope"),
      fc.boolean(),
      fc.boolean(),
      text,
    ),
    body: `const [parts, label, fatal, ignoreBOM, text] = input; const target = new Uint8Array(7); return [attempt(() => { const d = new TextDecoder(label, { fatal, ignoreBOM }); return [...parts.map((p) => d.decode(new Uint8Array(p), { stream: true })), d.decode(), d.encoding]; }), new TextEncoder().encode(text), { ...new TextEncoder().encodeInto(text, target) }, target];`,
    runs: 400,
  },
  "atob and btoa": { inputs: encoded, body: `return [attempt(() => atob(input)), attempt(() => btoa(input))];`, runs: 300 },
  "hashes and HMACs": {
    inputs: fc.tuple(
      fc.constantFrom("md5", "sha1", "sha256", "sha384", "SHA512", "sha3-256", "ripemd160", "blake2b512", "RSA-SHA256", "nope"),
      chunks,
      text,
      fc.constantFrom("hex", "base64", "base64url", "latin1", undefined),
      bytes(20),
    ),
    body: `const c = require("crypto"); const [name, parts, text, enc, key] = input; return [attempt(() => { const h = c.createHash(name); for (const p of parts) h.update(Buffer.from(p)); const k = h.copy(); h.update(text, "utf8"); return [h.digest(enc), k.digest(enc)]; }), attempt(() => { const h = c.createHmac(name, Buffer.from(key)); for (const p of parts) h.update(new Uint8Array(p)); return h.update(text).digest(enc); }), attempt(() => c.hash(name, text, enc ?? "buffer"))];`,
    runs: 200,
  },
  "keys derived": {
    inputs: fc.tuple(
      text,
      bytes(16),
      fc.integer({ min: -1, max: 50 }),
      fc.integer({ min: 0, max: 70 }),
      fc.constantFrom("sha1", "sha256", "sha512", "nope"),
      fc.constantFrom(2, 8, 16, 3),
    ),
    body: `const c = require("crypto"); const [pw, salt, n, size, digest, N] = input; const s = Buffer.from(salt); return [attempt(() => c.pbkdf2Sync(pw, s, n, size, digest)), attempt(() => c.scryptSync(pw, s, size, { N, r: 1, p: 1 })), attempt(() => Buffer.from(c.hkdfSync(digest, Buffer.from(pw), s, "info", size))), await new Promise((ok) => { try { c.pbkdf2(pw, s, n, size, digest, (e, k) => ok(e ?? k)); } catch (e) { ok(e); } })];`,
    runs: 150,
  },
  ciphers: {
    inputs: fc.tuple(
      fc.constantFrom(
        ["aes-128-cbc", 16, 16],
        ["aes-256-cbc", 32, 16],
        ["aes-192-ctr", 24, 16],
        ["aes-256-gcm", 32, 12],
        ["aes-128-ecb", 16, 0],
        ["chacha20-poly1305", 32, 12],
        ["des-ede3-cbc", 24, 8],
        ["aes-256-cfb8", 32, 16],
        ["aes-128-ccm", 16, 12],
      ),
      chunks,
      fc.boolean(),
      bytes(8),
      fc.constantFrom("hex", "base64", undefined),
    ),
    body: `const c = require("crypto"); const [[name, keyBytes, ivBytes], parts, padding, aad, enc] = input; const key = Buffer.alloc(keyBytes, 7), iv = ivBytes === 0 ? null : Buffer.alloc(ivBytes, 9); const isCcm = name.endsWith("ccm"); const isAead = /gcm|ccm|poly/.test(name); const data = isCcm ? [parts.flat()] : parts; return attempt(() => { const e = c.createCipheriv(name, key, iv, isCcm ? { authTagLength: 16 } : {}); if (!isAead) e.setAutoPadding(padding); if (isAead && aad.length) e.setAAD(Buffer.from(aad), { plaintextLength: data.flat().length }); const out = data.map((p) => e.update(Buffer.from(p), undefined, enc)); out.push(e.final(enc)); const tag = isAead ? e.getAuthTag() : null; const text = enc ? Buffer.from(out.join(""), enc) : Buffer.concat(out); const d = c.createDecipheriv(name, key, iv, isCcm ? { authTagLength: 16 } : {}); if (!isAead) d.setAutoPadding(padding); if (isAead) d.setAuthTag(tag); if (isAead && aad.length) d.setAAD(Buffer.from(aad), { plaintextLength: text.length }); return [out, tag, d.update(text, undefined, "latin1") + d.final("latin1")]; });`,
    runs: 200,
  },
  signatures: {
    inputs: fc.tuple(text, fc.constantFrom("sha1", "sha256", "RSA-SHA512"), fc.constantFrom("hex", "base64")),
    body: `const c = require("crypto"); const [text, digest, enc] = input; const rsa = ${JSON.stringify(rsa)}, ed = ${JSON.stringify(ed25519)}, ec = ${JSON.stringify(ec)}; const data = Buffer.from(text); const own = c.createSign(digest).update(text).sign(ec.privateKey); return [c.createSign(digest).update(text).sign(rsa.privateKey, enc), c.sign(null, data, ed.privateKey), c.createVerify(digest).update(text).verify(ec.publicKey, own), c.createVerify(digest).update(text + "x").verify(ec.publicKey, own), c.createPublicKey(rsa.privateKey).export({ type: "pkcs1", format: "der" }), c.privateDecrypt(rsa.privateKey, c.publicEncrypt(rsa.publicKey, data.subarray(0, 40)))];`,
    runs: 60,
  },
  "zlib: compressed, whole and in parts": {
    inputs: fc.tuple(
      chunks,
      fc.constantFrom(["gzip", "Gunzip"], ["deflate", "Inflate"], ["deflateRaw", "InflateRaw"], ["brotliCompress", "BrotliDecompress"]),
      fc.record(
        {
          level: fc.integer({ min: -1, max: 9 }),
          memLevel: fc.integer({ min: 1, max: 9 }),
          windowBits: fc.integer({ min: 9, max: 15 }),
          strategy: fc.integer({ min: 0, max: 4 }),
        },
        { requiredKeys: [] },
      ),
      fc.integer({ min: 1, max: 9 }),
    ),
    body: `const z = require("zlib"); const [parts, [pack, Unpack], options, step] = input; const data = Buffer.from(parts.flat().concat(parts.flat())); const o = pack.startsWith("brotli") ? {} : options; const packed = z[pack + "Sync"](data, o); const streamed = await new Promise((ok, no) => { const c = []; const s = z["create" + Unpack](o.windowBits ? { windowBits: o.windowBits } : {}); s.on("data", (d) => c.push(d)).on("end", () => ok(Buffer.concat(c))).on("error", no); for (let i = 0; i < packed.length; i += step) s.write(packed.subarray(i, i + step)); s.end(); }); return [packed, streamed.equals(data), z.crc32(data), (await require("util").promisify(z[pack])(data, o)).equals(packed)];`,
    runs: 80,
  },
  "zlib: what is no compressed data": {
    inputs: fc.tuple(bytes(30), fc.constantFrom("gunzip", "inflate", "inflateRaw", "unzip", "brotliDecompress"), fc.boolean()),
    body: `const z = require("zlib"); const data = input[2] ? z.gzipSync(Buffer.from(input[0])).subarray(0, -4) : Buffer.from(input[0]); return [attempt(() => z[input[1] + "Sync"](data)), await new Promise((ok) => z[input[1]](data, (e, b) => ok(e ? e.code : b)))];`,
    runs: 100,
  },
};
