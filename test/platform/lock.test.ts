import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockDataDirectory } from "../../platform/process/data-lock.ts";
import { waitUntil } from "../../domain/retry.ts";
import { isAlive, startOf } from "../../platform/process/processes.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

describe("lockDataDirectory", () => {
  let directory: TemporaryDirectory;
  beforeEach(async () => {
    directory = await temporaryDirectory("lock");
  });
  afterEach(() => directory.remove());

  async function expectLockIsFree(): Promise<void> {
    const lock = await lockDataDirectory(directory.path, "here");
    await expect(lock.release()).resolves.toBeUndefined();
  }

  it("refuses a second holder and names the first", async () => {
    const lock = await lockDataDirectory(directory.path, "http://127.0.0.1:3000");
    await expect(lockDataDirectory(directory.path, "elsewhere")).rejects.toThrow(
      new RegExp(`in use by process ${process.pid}, which serves http://127\\.0\\.0\\.1:3000`),
    );
    await lock.release();
    await (await lockDataDirectory(directory.path, "again")).release();
    expect(await readdir(directory.path)).toEqual([]);
  });

  it.skipIf(process.platform === "win32")("names the setting when the directory is not writable", async () => {
    for (const place of [join(directory.path, "file", "data"), "/proc/headwater"]) {
      await writeFile(join(directory.path, "file"), "");
      await expect(lockDataDirectory(place, "here")).rejects.toThrow(/cannot be written .* set HEADWATER_DATA/);
    }
  });

  it("lets exactly one of many acquire it", async () => {
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => lockDataDirectory(directory.path, "here")));
    expect(tries.filter((attempt) => attempt.status === "fulfilled")).toHaveLength(1);
  });

  it("takes over from a process that is gone", async () => {
    const child = spawn(process.execPath, ["-e", "0"]);
    await once(child, "exit");
    await leaveLock(child.pid, "1");
    await expectLockIsFree();
  });

  it.runIf(process.platform === "linux")("takes over from a process that has ended and was not waited for", async () => {
    // Its parent becomes a `sleep`, which waits for no child.
    const parent = spawn("sh", ["-c", "sleep 0.05 & echo $!; exec sleep 30"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    expect(await waitUntil(() => !isAlive(pid), 120_000)).toBe(true);
    await leaveLock(pid, await startOf(pid));
    await expectLockIsFree();
    parent.kill("SIGKILL");
  });

  it("takes over when the process id now belongs to another process", async () => {
    await leaveLock(process.pid, "another time");
    await expectLockIsFree();
  });

  it("takes over from a lock file that cannot be read", async () => {
    await writeFile(join(directory.path, "lock"), "{");
    await expectLockIsFree();
  });

  it("does not release a lock that another process took over", async () => {
    const lock = await lockDataDirectory(directory.path, "here");
    await leaveLock(1, "another");
    await lock.release();
    expect(await readFile(join(directory.path, "lock"), "utf8")).toContain("another");
  });

  const leaveLock = (pid: number | undefined, startedAt: string): Promise<void> =>
    writeFile(join(directory.path, "lock"), JSON.stringify({ pid, startedAt, address: "gone" }));
});
