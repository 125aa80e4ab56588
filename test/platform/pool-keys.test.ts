import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { derivePoolKeys, readMasterKeys } from "../../platform/secrets/pool-keys.ts";
import { createPoolSecrets, createSecrets, masterFile, poolFile, rotateMasterKey } from "../../platform/secrets/secrets.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

describe("keys of pools that are derived from the master key", () => {
  let directory: TemporaryDirectory;
  let runner: TemporaryDirectory;

  beforeAll(async () => {
    [directory, runner] = await Promise.all([temporaryDirectory("keys"), temporaryDirectory("runner-keys")]);
  });
  afterAll(async () => {
    await Promise.all([directory.remove(), runner.remove()]);
  });

  /** The content of a pool's Secret, as a runner reads it. */
  async function mounted(pool: string) {
    const file = join(runner.path, `pool-${pool}.json`);
    await writeFile(file, JSON.stringify(derivePoolKeys(await readMasterKeys(masterFile(directory.path)), pool)));
    return createPoolSecrets(file);
  }

  it("open texts that are sealed for their pool, and none for another", async () => {
    const secrets = await createSecrets(directory.path, "derived");
    const sealed = await secrets.sealForPool("one", "a token");
    expect(await (await mounted("one")).open(sealed)).toBe("a token");
    await expect((await mounted("two")).open(sealed)).rejects.toMatchObject({ code: "unknown_key" });
  });

  it("are the same each time, and leave no file behind", async () => {
    const master = await readMasterKeys(masterFile(directory.path));
    expect(derivePoolKeys(master, "one")).toEqual(derivePoolKeys(master, "one"));
    await expect(readFile(poolFile(directory.path, "one"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("reveal nothing of the master key", async () => {
    const { keys } = await readMasterKeys(masterFile(directory.path));
    const text = JSON.stringify(derivePoolKeys({ keys }, "one"));
    for (const { k, kid } of keys) {
      expect(text).not.toContain(String(k));
      expect(text).not.toContain(kid);
    }
  });

  it("still open texts sealed before a rotation of the master key", async () => {
    const before = await (await createSecrets(directory.path, "derived")).sealForPool("one", "old");
    await rotateMasterKey(directory.path);
    const after = await (await createSecrets(directory.path, "derived")).sealForPool("one", "new");
    const opened = await mounted("one");
    expect([await opened.open(before), await opened.open(after)]).toEqual(["old", "new"]);
  });

  it("report a missing file of the master key", async () => {
    await expect(readMasterKeys(join(runner.path, "none.json"))).rejects.toThrow("does not exist");
  });
});
