import { expect, test } from "vitest";
import { type FileEntry, fileLimits, isPartName, type RunFiles, type RunOfFiles } from "../../domain/files/run-files.ts";

export interface RunFilesUnderTest {
  readonly files: RunFiles;
  /** Another process's. */
  readonly others: RunFiles;
  readonly run: RunOfFiles;
  /** Runs that have nothing in common with it but two of owner, workflow and id. */
  readonly otherRuns: readonly RunOfFiles[];
}

const about = { mode: 0o644, modifiedMs: 1_700_000_000_000.5 };
const directory = (path: string): FileEntry => ({ kind: "directory", path, ...about, mode: 0o755 });
const file = (path: string, parts: readonly string[] = [], bytes = 0): FileEntry => ({ kind: "file", path, bytes, parts, ...about });

/** What every RunFiles does. `make` is called once per test. */
export function runFilesConformance(make: () => Promise<RunFilesUnderTest>): void {
  async function world() {
    const made = await make();
    const layer = (removed: readonly string[], put: readonly FileEntry[]): Promise<string> =>
      made.files.write(made.run, Buffer.from(JSON.stringify({ removed, put })));
    const list = (...layers: readonly string[]): Promise<readonly FileEntry[]> => made.files.list(made.run, layers);
    return { ...made, layer, list };
  }

  test("returns the bytes of a part that was stored, to every process", async () => {
    const { files, others, run } = await world();
    for (const bytes of [new Uint8Array(0), new Uint8Array([0, 255, 10]), new Uint8Array(fileLimits.partBytes).fill(7)]) {
      const part = await files.write(run, bytes);
      expect(isPartName(part)).toBe(true);
      for (const each of [files, others]) expect(Buffer.compare(await each.read(run, part), bytes)).toBe(0);
    }
  });

  test("stores equal bytes under different names", async () => {
    const { files, run } = await world();
    const bytes = new Uint8Array([1]);
    expect(await files.write(run, bytes)).not.toBe(await files.write(run, bytes));
  });

  test("has no part of another run, and none that was not stored", async () => {
    const { files, run, otherRuns } = await world();
    const part = await files.write(run, new Uint8Array([1]));
    for (const other of otherRuns) await expect(files.read(other, part)).rejects.toMatchObject({ code: "files_gone" });
    await expect(files.read(run, `${"0".repeat(32)}-1`)).rejects.toMatchObject({ code: "files_gone" });
  });

  test("copies a part to another run of the workflow, under its name, once", async () => {
    const { files, others, run } = await world();
    const bytes = new Uint8Array(fileLimits.partBytes).fill(9);
    const part = await files.write(run, bytes);
    const copy = { ...run, run: "r_copy" };
    for (const each of [files, others, files]) await each.copy(run, [part], copy.run);
    expect(Buffer.compare(await others.read(copy, part), bytes)).toBe(0);
    await expect(files.copy(run, [`${"0".repeat(32)}-1`], copy.run)).rejects.toMatchObject({ code: "files_gone" });
  });

  test("copies no part of another owner or workflow", async () => {
    const { files, run, otherRuns } = await world();
    const part = await files.write(run, new Uint8Array([1]));
    const others = otherRuns.filter(({ owner, workflow }) => owner !== run.owner || workflow !== run.workflow);
    expect(others.length).toBeGreaterThan(0);
    for (const other of others) {
      await expect(files.copy({ ...other, run: run.run }, [part], "r_thief")).rejects.toMatchObject({ code: "files_gone" });
      await expect(files.read({ ...other, run: "r_thief" }, part)).rejects.toMatchObject({ code: "files_gone" });
    }
  });

  test("lists nothing without layers", async () => {
    const { list } = await world();
    expect(await list()).toEqual([]);
  });

  test("lists the entries of its layers by path, as they were stored", async () => {
    const { files, run, layer, list } = await world();
    const part = await files.write(run, new Uint8Array(3));
    const entries = [directory("a b"), file("a b/ü", [part], 3), file("__proto__")];
    expect(await list(await layer([], entries))).toEqual([file("__proto__"), directory("a b"), file("a b/ü", [part], 3)]);
  });

  test("lets later layers replace and remove what earlier ones have, in their order", async () => {
    const { layer, list } = await world();
    const first = await layer([], [directory("a"), file("a/x"), file("b"), file("c")]);
    const changed = { ...file("c"), mode: 0o600 };
    const second = await layer(["a", "b"], [changed]);
    const third = await layer([], [directory("a"), file("a/y")]);
    expect(await list(first, second)).toEqual([changed]);
    expect(await list(first, second, third)).toEqual([directory("a"), file("a/y"), changed]);
    expect(await list(second, first)).toEqual([directory("a"), file("a/x"), file("b"), file("c")]);
  });

  test("leaves out entries of a directory that another layer has removed", async () => {
    const { layer, list } = await world();
    const first = await layer([], [directory("a"), file("b")]);
    const [removal, addition] = [await layer(["a"], []), await layer([], [file("a/late")])];
    expect(await list(first, removal, addition)).toEqual([file("b")]);
  });

  test("does not list a layer that was not stored", async () => {
    const { list } = await world();
    await expect(list(`${"0".repeat(32)}-1`)).rejects.toMatchObject({ code: "files_gone" });
  });
}
