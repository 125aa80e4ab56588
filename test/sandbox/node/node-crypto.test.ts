import { generateKeyPairSync, sign } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compare, expectSame, type Comparison, type Snippets } from "./node-comparison.ts";
import { errorOf, shareSandbox, type SandboxFixture } from "../sandbox-fixture.ts";

const rsa = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const encrypted = generateKeyPairSync("rsa", {
  modulusLength: 1024,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "secret" },
});
const ec = generateKeyPairSync("ec", {
  namedCurve: "prime256v1",
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "sec1", format: "pem" },
});
const keys = `const c = require("crypto"); const rsa = ${JSON.stringify(rsa)}; const ec = ${JSON.stringify(ec)}; const enc = ${JSON.stringify(encrypted)};`;
const signature = sign("sha256", Buffer.from("message"), ec.privateKey).toString("base64");

const snippets: Snippets = {
  hashes: `${keys} for (const a of ["md5", "sha1", "sha256", "SHA512", "RSA-SHA256", "sha3-256", "ripemd160"]) print(a, c.createHash(a).update("a").update(Buffer.from("b")).digest("hex")); const h = c.createHash("sha256").update("x"); const k = h.copy(); print(h.digest("base64"), k.update("y").digest("base64url"), attempt(() => h.update("z")), attempt(() => h.digest()).code, attempt(() => c.createHash("nope")).message, c.hash("sha1", "abc"), c.createHash("shake128", { outputLength: 4 }).update("").digest("hex"))`,
  "hashes are streams": `${keys} const { Readable, pipeline } = require("stream"); const h = c.createHash("sha1"); h.setEncoding("hex"); h.write("ab"); h.end("c"); print(await new Promise((r) => h.on("data", r))); const p = require("stream/promises"); const out = []; await p.pipeline(Readable.from(["a", "bc"]), c.createHash("sha1"), async (s) => { for await (const x of s) out.push(x.toString("hex")); }); print(out); const mac = c.createHmac("sha256", "k"); mac.end("data"); print(mac.read().toString("hex"))`,
  hmac: `${keys} print(c.createHmac("sha256", "key").update("data").digest("hex"), c.createHmac("sha1", Buffer.from("k")).update("é", "latin1").digest("base64"), c.createHmac("sha512", c.createSecretKey(Buffer.from("k"))).update("x").digest("hex"), attempt(() => c.createHmac("nope", "k")).code, attempt(() => c.createHmac("sha1")).code)`,
  ciphers: `${keys} const k = Buffer.alloc(32, 1), iv = Buffer.alloc(16, 2); const e = c.createCipheriv("aes-256-cbc", k, iv); const t = e.update("hello world, this is long", "utf8", "hex") + e.final("hex"); print(t); const d = c.createDecipheriv("aes-256-cbc", k, iv); print(d.update(t, "hex", "utf8") + d.final("utf8")); const g = c.createCipheriv("aes-256-gcm", k, iv.subarray(0, 12)); g.setAAD(Buffer.from("aad")); const gt = Buffer.concat([g.update("secret"), g.final()]); print(gt.toString("hex"), g.getAuthTag().toString("hex")); const gd = c.createDecipheriv("aes-256-gcm", k, iv.subarray(0, 12)); gd.setAAD(Buffer.from("aad")).setAuthTag(g.getAuthTag()); print(gd.update(gt, null, "utf8") + gd.final("utf8")); const bad = c.createDecipheriv("aes-256-gcm", k, iv.subarray(0, 12)); bad.setAuthTag(Buffer.alloc(16)); bad.update(gt); print(attempt(() => bad.final()).message); print(attempt(() => c.createCipheriv("aes-256-cbc", "short", iv)).message, attempt(() => c.createCipheriv("aes-128-cbc", k.subarray(0, 16), "x")).message, c.createCipheriv("aes-128-ctr", k.subarray(0, 16), iv).update("stream").toString("hex"), c.createCipheriv("aes-128-ecb", k.subarray(0, 16), null).setAutoPadding(false).update(Buffer.alloc(16)).toString("hex"), c.getCipherInfo("aes-256-gcm"))`,
  signatures: `${keys} for (const [key, pub] of [[rsa.privateKey, rsa.publicKey]]) { const s = c.createSign("RSA-SHA256").update("message").sign(key, "base64"); print(s, c.createVerify("SHA256").update("message").verify(pub, s, "base64"), c.createVerify("SHA256").update("other").verify(pub, s, "base64"), c.sign("sha256", Buffer.from("message"), { key, padding: c.constants.RSA_PKCS1_PADDING }).toString("base64") === s); const pss = c.sign("sha256", Buffer.from("m"), { key, padding: c.constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }); print(c.verify("sha256", Buffer.from("m"), { key: pub, padding: 6, saltLength: 32 }, pss), pss.length); } print(c.verify("sha256", Buffer.from("message"), ec.publicKey, Buffer.from("${signature}", "base64")), c.verify(null, Buffer.from("m"), ec.publicKey, c.sign(null, Buffer.from("m"), ec.privateKey)), c.sign("sha256", Buffer.from("x"), { key: ec.privateKey, dsaEncoding: "ieee-p1363" }).length, c.createSign("sha1").update("x").sign({ key: enc.privateKey, passphrase: "secret" }).length); const u = c.privateDecrypt(rsa.privateKey, c.publicEncrypt(rsa.publicKey, Buffer.from("hush"))); print(u.toString())`,
  keys: `${keys} const k = c.createPrivateKey(rsa.privateKey); print(k.type, k.asymmetricKeyType, k.asymmetricKeyDetails, k.export({ type: "pkcs1", format: "pem" }).length, k.export({ type: "pkcs8", format: "pem" }) === rsa.privateKey, c.createPublicKey(k).export({ type: "spki", format: "pem" }) === rsa.publicKey, c.createPublicKey(rsa.privateKey).equals(c.createPublicKey(rsa.publicKey))); const j = c.createPublicKey(ec.publicKey).export({ format: "jwk" }); print(Object.keys(j).sort(), c.createPublicKey({ key: j, format: "jwk" }).export({ type: "spki", format: "pem" }) === ec.publicKey); const s = c.createSecretKey("abc", "utf8"); print(s.export().toString(), s.symmetricKeySize, s.export({ format: "jwk" }), Object.prototype.toString.call(s)); print(attempt(() => c.createPrivateKey("nonsense")).threw, attempt(() => c.createPrivateKey({ key: enc.privateKey, passphrase: "wrong" })).threw)`,
  derivation: `${keys} print(c.pbkdf2Sync("pw", "salt", 1000, 32, "sha256").toString("hex"), c.scryptSync("pw", "salt", 32).toString("hex"), Buffer.from(c.hkdfSync("sha256", "key", "salt", "info", 16)).toString("hex")); const u = require("util"); print((await u.promisify(c.pbkdf2)("pw", "s", 10, 8, "sha1")).toString("hex"), (await u.promisify(c.scrypt)("pw", "s", 8, { N: 1024 })).toString("hex"))`,
  random: `${keys} print(c.randomBytes(7).length, await new Promise((r) => c.randomBytes(3, (e, b) => r(b.length))), /^[\\da-f]{8}-[\\da-f]{4}-4[\\da-f]{3}-[89ab][\\da-f]{3}-[\\da-f]{12}$/.test(c.randomUUID()), c.randomFillSync(new Uint32Array(2)).length, [1, 2, 3].includes(c.randomInt(1, 4)), attempt(() => c.randomInt(2, 1)).code, attempt(() => c.randomBytes(-1)).code, c.timingSafeEqual(Buffer.from("a"), Buffer.from("a")), attempt(() => c.timingSafeEqual(Buffer.from("a"), Buffer.from("ab"))).code, c.randomBytes(2000).equals(c.randomBytes(2000)))`,
  exchange: `${keys} const a = c.createECDH("secp256k1"), b = c.createECDH("secp256k1"); a.generateKeys(); b.generateKeys(); print(a.computeSecret(b.getPublicKey()).equals(b.computeSecret(a.getPublicKey())), a.getPublicKey("hex", "compressed").length); const x = c.generateKeyPairSync("x25519"), y = c.generateKeyPairSync("x25519"); print(c.diffieHellman({ privateKey: x.privateKey, publicKey: y.publicKey }).equals(c.diffieHellman({ privateKey: y.privateKey, publicKey: x.publicKey }))); const d1 = c.getDiffieHellman("modp14"), d2 = c.getDiffieHellman("modp14"); d1.generateKeys(); d2.generateKeys(); print(d1.computeSecret(d2.getPublicKey()).equals(d2.computeSecret(d1.getPublicKey())), d1.getPrime().length)`,
  "key pairs": `${keys} const ed = c.generateKeyPairSync("ed25519"); print(ed.publicKey.asymmetricKeyType, c.verify(null, Buffer.from("m"), ed.publicKey, c.sign(null, Buffer.from("m"), ed.privateKey))); const p = await require("util").promisify(c.generateKeyPair)("rsa", { modulusLength: 1024, publicKeyEncoding: { type: "spki", format: "pem" }, privateKeyEncoding: { type: "pkcs8", format: "pem" } }); print(p.publicKey.split("\\n")[0], p.privateKey.split("\\n")[0]); print(await new Promise((r) => c.generateKeyPair("ec", { namedCurve: "P-256" }, (e, pub, priv) => r([e, pub.type, priv.asymmetricKeyDetails]))))`,
  "large data": `${keys} const data = Buffer.alloc(2_500_001, "0123456789abcdef-"), k = Buffer.alloc(32, 1), iv = Buffer.alloc(16, 2); const end = (b) => c.createHash("sha1").update(b).digest("hex"); for (const size of [4096, 4097, 65536, 65537, 131072, 200001]) for (const name of ["aes-256-cbc", "aes-256-ctr", "aes-256-cfb1", "chacha20", "aes-256-ofb"]) { const part = data.subarray(0, size); const e = c.createCipheriv(name, k, iv); const t = Buffer.concat([e.update(part), e.final()]); const d = c.createDecipheriv(name, k, iv); print(name, size, end(t), Buffer.concat([d.update(t), d.final()]).equals(part)); } const g = c.createCipheriv("aes-256-gcm", k, iv); print(end(Buffer.concat([g.update(data), g.final()])), g.getAuthTag().toString("hex")); for (const size of [1048576, 1048577, 2_500_001]) { const part = data.subarray(0, size); const ed = c.createPrivateKey({ key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), k]), format: "der", type: "pkcs8" }); const s = c.createSign("sha256").update(part).sign(rsa.privateKey); print(size, c.createHash("md5").update(part).digest("hex"), c.createHmac("sha512", "k").update(part).digest("hex"), s.toString("hex"), c.createVerify("sha256").update(part).verify(rsa.publicKey, s), c.verify("sha256", part, rsa.publicKey, s), c.sign(null, part, ed).toString("hex"), c.verify(null, part, c.createPublicKey(ed), c.sign(null, part, ed))); }`,
  lists: `${keys} print(c.getHashes().includes("sha256"), c.getCiphers().includes("aes-256-gcm"), c.getCurves().includes("prime256v1"), c.constants.RSA_PKCS1_OAEP_PADDING, c.webcrypto === globalThis.crypto, typeof c.subtle.digest)`,
};

let fixture: SandboxFixture;
let results: Comparison;
beforeAll(async () => {
  fixture = await shareSandbox();
  results = await compare(fixture, snippets);
});
afterAll(() => fixture.stop());

describe("crypto prints the same in the sandbox as in Node.js", () => {
  it.each(Object.keys(snippets))("%s", (name) => expectSame(results, name));
});

async function attempt(expression: string): Promise<unknown> {
  const execution = await fixture.run(
    `import c from "crypto"; export default { name: "c", async run() { try { await ${expression}; return "done"; } catch (error) { return error.code; } } }`,
    { limits: { memoryMb: 128 } },
  );
  return execution.outcome === "returned" ? JSON.parse(execution.result ?? "null") : errorOf(execution);
}

describe("limits", () => {
  it.each([
    ["pbkdf2Sync of a thousand million rounds", `c.pbkdf2Sync("a", "b", 1e9, 32, "sha256")`],
    ["scryptSync with N = 2^20", `c.scryptSync("a", "b", 32, { N: 2 ** 20, maxmem: 2 ** 31 })`],
    [
      "an asynchronous pbkdf2 of a thousand million rounds",
      `new Promise((r, j) => c.pbkdf2("a", "b", 1e9, 32, "sha256", (e) => e ? j(e) : r()))`,
    ],
  ])("%s is refused", async (_name, expression) => {
    expect(await attempt(expression)).toBe("limit_exceeded");
  });

  it("an RSA key pair of more than 4,096 bits is refused", async () => {
    expect(await attempt(`c.generateKeyPairSync("rsa", { modulusLength: 4104 })`)).toBe("ERR_OUT_OF_RANGE");
  });

  it("a one-shot cipher refuses data above its limit, which the error names", async () => {
    const wrap = `c.createCipheriv("id-aes256-wrap", Buffer.alloc(32), Buffer.alloc(8, 0xa6)).update(Buffer.alloc(65536 + 8))`;
    expect(await attempt(wrap)).toBe("limit_exceeded");
    const ccm = `c.createCipheriv("aes-256-ccm", Buffer.alloc(32), Buffer.alloc(12), { authTagLength: 16 }).update(Buffer.alloc(2 ** 20 + 1))`;
    const message = await attempt(`(() => { try { ${ccm} } catch (e) { throw { code: e.message } } })()`);
    expect(message).toBe("aes-256-ccm takes at most 1048576 bytes, since it takes all data at once");
  });

  it("64 MB of random bytes and more are refused", async () => {
    expect(await attempt(`c.randomBytes(2 ** 31)`)).toBe("ERR_OUT_OF_RANGE");
  });

  it("an encrypted key with 10^9 rounds is refused", async () => {
    const der = Buffer.from(encrypted.privateKey.replace(/-----[^-]+-----|\s/g, ""), "base64");
    const at = der.indexOf(Buffer.from("06092a864886f70d01050c", "hex")) + 11;
    const iterations = at + 4 + (der[at + 3] ?? 0);
    // 2,048 rounds are two bytes; the largest number of two bytes stays below the limit, so the tag is made four long by hand.
    const hostile = Buffer.concat([
      der.subarray(0, iterations),
      Buffer.from([0x02, 0x04, 0x7f, 0xff, 0xff, 0xff]),
      der.subarray(iterations + 4),
    ]);
    expect(
      await attempt(
        `c.createPrivateKey({ key: Buffer.from("${hostile.toString("base64")}", "base64"), format: "der", type: "pkcs8", passphrase: "secret" })`,
      ),
    ).toBe("limit_exceeded");
  });

  it("an encrypted key with headers, which could hide its rounds, is refused", async () => {
    const pem = encrypted.privateKey.replace("KEY-----\n", "KEY-----\nX-Y: z\n\n");
    expect(await attempt(`c.createPrivateKey({ key: ${JSON.stringify(pem)}, passphrase: "secret" })`)).toBe("ERR_INVALID_ARG_VALUE");
  });
});
