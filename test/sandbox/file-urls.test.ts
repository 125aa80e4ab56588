import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { QuotaExceeded } from "../../domain/errors.ts";
import type { RunOfFiles } from "../../domain/files/run-files.ts";
import { fileManifest } from "../../domain/files/schemas.ts";
import { type FilesFixture, startFilesSandbox } from "./file-steps.ts";
import { errorOf } from "./sandbox-fixture.ts";

let fixture: FilesFixture;
beforeAll(async () => {
  fixture = await startFilesSandbox();
});
afterAll(() => fixture.stop());
beforeEach(() => {
  fixture.files.calls.length = 0;
  fixture.files.failures.length = 0;
});

describe("the URL of a file", () => {
  /** What the ingress sends for it. */
  async function download(url: unknown, run: Omit<RunOfFiles, "owner">): Promise<Buffer> {
    const of = { owner: "u_1", workflow: run.workflow, run: run.run };
    const [, manifest = ""] = /^https:\/\/e\/p_1\/files\/r_\d+\/5\/signature\/([^/]+)\/[^/]+$/.exec(String(url)) ?? [];
    const parts = fileManifest.parse(JSON.parse(Buffer.from(await fixture.files.read(of, manifest)).toString()));
    return Buffer.concat(await Promise.all(parts.map((part) => fixture.files.read(of, part))));
  }

  it.each([0, 1, 524_288, 1_300_000])("names its %i bytes", async (length) => {
    const run = fixture.startRun();
    const url = await run.value(`const bytes = Buffer.alloc(${length}, "0123456789a");
      return await (await $.files.open("a/large.bin").write(bytes)).toUrl();`);
    expect(url).toMatch(/\/large\.bin$/);
    const expected = Buffer.alloc(length, "0123456789a");
    expect(Buffer.compare(await download(url, run.access), expected)).toBe(0);
    expect(await run.value(`return (await $.files.open("a/large.bin").toBuffer()).equals(Buffer.alloc(${length}, "0123456789a"));`)).toBe(
      true,
    );
  });

  it("names the file as it was then, also after a later step has changed or deleted it", async () => {
    const run = fixture.startRun();
    const first = await run.value(`return await (await $.files.open("a b?.txt").write("first")).toUrl();`);
    expect(first).toMatch(/\/a%20b%3F\.txt$/);
    const second = await run.value(`
      const file = $.files.open("a b?.txt");
      await file.write("second");
      const url = await file.toUrl();
      await file.delete();
      return url;`);
    expect((await download(first, run.access)).toString()).toBe("first");
    expect((await download(second, run.access)).toString()).toBe("second");
  });

  it("stores nothing but the list if an earlier step has stored the file", async () => {
    const run = fixture.startRun();
    await run.step(`await $.files.open("a").write(Buffer.alloc(600_000));`);
    fixture.files.calls.length = 0;
    const url = await run.value(`return await $.files.open("a").toUrl();`);
    expect(fixture.files.calls).toEqual(["list", "write"]);
    expect(await download(url, run.access)).toHaveLength(600_000);
  });

  it("names the zeros of a file that was only made longer", async () => {
    const run = fixture.startRun();
    const url = await run.value(
      `const file = $.files.open("z"); fs.truncateSync("/tmp/.file-store/z", 600_000); return await file.toUrl();`,
    );
    expect(Buffer.compare(await download(url, run.access), Buffer.alloc(600_000))).toBe(0);
  });

  it("is refused for a directory, and for a file that is gone", async () => {
    const run = fixture.startRun();
    const body = `await $.files.open("d/x").write("x"); await $.files.open("d").toUrl();`;
    expect(errorOf(await run.step(body))).toMatchObject({ code: "invalid_file", message: "'d' is a directory: only files have URLs" });
    expect(errorOf(await run.step(`const file = $.files.open("x"); await file.delete(); await file.toUrl();`))).toMatchObject({
      message: "ENOENT: no such file or directory, stat '/tmp/.file-store/x'",
    });
  });

  it("needs room for its list", async () => {
    fixture.files.failures.push({ on: "write", error: new QuotaExceeded("the share is used up", { code: "files_full" }) });
    expect(errorOf(await fixture.startRun().step(`await $.files.open("x").toUrl();`))).toMatchObject({
      message: "ENOSPC: no space left on device, write: the share is used up",
    });
  });
});
