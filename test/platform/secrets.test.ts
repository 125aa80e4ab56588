import fc from "fast-check";
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeProtectedHeader } from "jose";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createPoolSecrets,
  createSecrets,
  ensurePoolKeys,
  masterFile,
  poolFile,
  poolPublicFile,
  rotateMasterKey,
} from "../../platform/secrets/secrets.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "headwater-secrets-"));
});
afterEach(() => rm(directory, { recursive: true }));

const mode = async (file: string): Promise<number> => (await stat(file)).mode & 0o777;

describe("secrets at rest", () => {
  test("any text is restored, and no two seals of it are equal", async () => {
    const secrets = await createSecrets(directory);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), async (text) => {
        const sealed = await secrets.seal(text);
        expect(await secrets.open(sealed)).toBe(text);
        expect(await secrets.seal(text)).not.toBe(sealed);
      }),
      { numRuns: 30 },
    );
  });

  test("the key file is readable only by its user and survives a restart", async () => {
    const sealed = await (await createSecrets(directory)).seal("whsec_x");
    expect(await mode(masterFile(directory))).toBe(0o600);
    expect(await (await createSecrets(directory)).open(sealed)).toBe("whsec_x");
  });

  test("processes that start at once share one key", async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => createSecrets(directory)));
    const sealed = await Promise.all(all.map((secrets, n) => secrets.seal(`text ${n}`)));
    for (const secrets of all) expect(await Promise.all(sealed.map((text) => secrets.open(text)))).toEqual(all.map((_, n) => `text ${n}`));
  });

  test("a seal changed in any part is refused without its content", async () => {
    const secrets = await createSecrets(directory);
    const parts = (await secrets.seal("the secret text")).split(".");
    for (const changed of [2, 3, 4]) {
      const part = parts[changed] ?? "";
      const tampered = parts.with(changed, (part.startsWith("A") ? "B" : "A") + part.slice(1)).join(".");
      await expect(secrets.open(tampered)).rejects.toMatchObject({
        status: 422,
        code: "broken_seal",
        message: expect.not.stringContaining("secret text"),
      });
    }
    for (const nothing of ["", "a.b.c.d.e", "plain text"]) await expect(secrets.open(nothing)).rejects.toMatchObject({ status: 422 });
  });

  test("another installation's seal is refused", async () => {
    const other = await mkdtemp(join(tmpdir(), "headwater-secrets-"));
    const sealed = await (await createSecrets(other)).seal("x");
    await rm(other, { recursive: true });
    await expect((await createSecrets(directory)).open(sealed)).rejects.toMatchObject({ code: "unknown_key" });
  });

  test("after a rotation the new key seals and the old one still opens", async () => {
    const old = await (await createSecrets(directory)).seal("old");
    await rotateMasterKey(directory);
    const secrets = await createSecrets(directory);
    const young = await secrets.seal("young");
    expect(decodeProtectedHeader(young).kid).not.toBe(decodeProtectedHeader(old).kid);
    expect([await secrets.open(old), await secrets.open(young)]).toEqual(["old", "young"]);
    expect(await mode(masterFile(directory))).toBe(0o600);
  });

  test("opens texts sealed after a rotation with keys that were read before it", async () => {
    const before = await createSecrets(directory);
    await rotateMasterKey(directory);
    const after = await createSecrets(directory);
    expect(await before.open(await after.seal("new"))).toBe("new");
  });

  test("reseals only texts that an older key sealed", async () => {
    const old = await (await createSecrets(directory)).seal("text");
    await rotateMasterKey(directory);
    const secrets = await createSecrets(directory);
    const young = (await secrets.reseal(old)) ?? "";
    expect(decodeProtectedHeader(young).kid).not.toBe(decodeProtectedHeader(old).kid);
    expect(await secrets.open(young)).toBe("text");
    expect(await secrets.reseal(young)).toBeUndefined();
  });

  test("concurrent rotations lose no key, and a killed one delays others only briefly", async () => {
    const old = await (await createSecrets(directory)).seal("text");
    await Promise.all(Array.from({ length: 5 }, () => rotateMasterKey(directory)));
    const file = masterFile(directory);
    expect(JSON.parse(await readFile(file, "utf8")).keys).toHaveLength(6);
    expect(await (await createSecrets(directory)).open(old)).toBe("text");
    await writeFile(`${file}.lock`, "1");
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(`${file}.lock`, longAgo, longAgo);
    // All of them find it expired at once, and only one may remove it.
    await Promise.all(Array.from({ length: 30 }, () => rotateMasterKey(directory)));
    expect(await rotateMasterKey(directory)).toBe(37);
    expect((await readdir(directory)).filter((name) => name !== "master.json")).toEqual([]);
  });

  test("a rotation without keys reports what to do", async () => {
    await expect(rotateMasterKey(join(directory, "none"))).rejects.toThrow("start Headwater once");
  });

  test("a damaged key file is an error that does not quote it", async () => {
    await writeFile(masterFile(directory), '{"keys":[{"k":"topsecret"');
    await expect(createSecrets(directory)).rejects.toMatchObject({
      code: "invariant",
      message: expect.not.stringContaining("topsecret"),
    });
  });
});

describe("secrets for a pool", () => {
  test("its runners open them, runners of other pools and the installation's keys do not", async () => {
    const secrets = await createSecrets(directory);
    const sealed = await secrets.sealForPool("default", "token");
    expect(await mode(poolFile(directory, "default"))).toBe(0o600);
    expect(await (await createPoolSecrets(poolFile(directory, "default"))).open(sealed)).toBe("token");
    const other = await createPoolSecrets(await ensurePoolKeys(directory, "other"));
    await expect(other.open(sealed)).rejects.toMatchObject({ code: "unknown_key" });
    await expect(secrets.open(sealed)).rejects.toMatchObject({ status: 422 });
  });

  test("a seal with the pool's key id but of another key is refused", async () => {
    const secrets = await createSecrets(directory);
    const pool = await createPoolSecrets(await ensurePoolKeys(directory, "default"));
    const [, ...rest] = (await secrets.sealForPool("other", "token")).split(".");
    const [header] = (await secrets.sealForPool("default", "token")).split(".");
    await expect(pool.open([header, ...rest].join("."))).rejects.toMatchObject({ code: "broken_seal" });
  });

  test("the public key is enough to seal", async () => {
    await ensurePoolKeys(directory, "default");
    const { keys } = JSON.parse(await readFile(poolFile(directory, "default"), "utf8"));
    const elsewhere = await mkdtemp(join(tmpdir(), "headwater-secrets-"));
    const { d: _, ...half } = keys[0];
    await writeFile(poolPublicFile(elsewhere, "default"), JSON.stringify({ keys: [half] }));
    const sealed = await (await createSecrets(elsewhere)).sealForPool("default", "token");
    await rm(elsewhere, { recursive: true });
    expect(await (await createPoolSecrets(poolFile(directory, "default"))).open(sealed)).toBe("token");
  });

  test("a missing key file, and a pool name that is a path, are refused", async () => {
    await expect(createPoolSecrets(join(directory, "none.json"))).rejects.toMatchObject({
      message: expect.stringContaining("does not exist"),
    });
    await expect((await createSecrets(directory)).sealForPool("../x", "t")).rejects.toMatchObject({ status: 422 });
  });
});
