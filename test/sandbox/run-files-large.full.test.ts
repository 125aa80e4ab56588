import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FilesFixture, startFilesSandbox } from "./file-steps.ts";
import { errorOf } from "./sandbox-fixture.ts";
import { until } from "../support/until.ts";

const MiB = 2 ** 20;
const limits = { memoryMb: 64 };

let fixture: FilesFixture;
beforeAll(async () => {
  fixture = await startFilesSandbox();
});
afterAll(() => fixture.stop());

/** The largest resident memory of the sandbox's processes while something goes on, compared with that before, bytes. */
async function growthDuring(act: () => Promise<unknown>): Promise<number> {
  await fixture.startRun().step("");
  await until(() => fixture.sandbox.stats().residentBytes > 0, "statistics");
  const before = fixture.sandbox.stats().residentBytes;
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, fixture.sandbox.stats().residentBytes)), 50);
  await act().finally(() => clearInterval(timer));
  return most - before;
}

describe("a file of 100 MiB", () => {
  it("is written, copied and read in streams by steps with 64 MB of memory, in any way of streaming", async () => {
    const run = fixture.startRun();
    const body = (code: string): string => `
      const block = Buffer.alloc(1024 * 1024);
      ${code}`;
    const write = body(`
      const stream = fs.createWriteStream("/tmp/large");
      for (let n = 0; n < 100; n++) { block.fill(n); if (!stream.write(Buffer.from(block))) await new Promise((resolve) => stream.once("drain", resolve)); }
      await new Promise((resolve, reject) => stream.on("error", reject).end(resolve));
      return fs.statSync("/tmp/large").size;`);
    const copy = body(`
      await pipeline(fs.createReadStream("/tmp/large"), async function* (chunks) { for await (const chunk of chunks) yield chunk.map((byte) => byte + 1); }, fs.createWriteStream("/tmp/copy"));
      fs.copyFileSync("/tmp/copy", "/tmp/second"); await fs.promises.rename("/tmp/second", "/tmp/renamed");
      return fs.statSync("/tmp/renamed").size;`);
    const read = body(`
      const seen = new Set(); let bytes = 0;
      for await (const chunk of fs.createReadStream("/tmp/renamed")) { bytes += chunk.length; seen.add(chunk[0]); }
      const fd = fs.openSync("/tmp/large"); const one = Buffer.alloc(3); let sum = 0;
      for (let n = 99; n >= 0; n -= 9) { fs.readSync(fd, one, 0, 3, n * ${MiB}); sum += one[1]; }
      return [bytes, seen.size, sum];`);
    for (const [code, value] of [
      [write, 100 * MiB],
      [copy, 100 * MiB],
      [read, [100 * MiB, 100, 594]],
    ] as const) {
      const growth = await growthDuring(async () => expect(await run.value(code, { limits })).toEqual(value));
      // An isolate with its 64 MB, and garbage of the process around it; with the file it would be twice as much.
      expect(growth).toBeLessThan(150 * MiB);
    }
  });

  it("is written and read by synchronous functions as well, and is too large to be read whole", async () => {
    const run = fixture.startRun();
    const write = `const block = Buffer.alloc(${MiB}); for (let n = 0; n < 100; n++) { block.fill(n); fs.appendFileSync("/tmp/large", block); } return fs.statSync("/tmp/large").size;`;
    expect(await run.value(write, { limits })).toBe(100 * MiB);
    expect(errorOf(await run.step(`fs.readFileSync("/tmp/large");`, { limits }))).toMatchObject({
      outcome: "threw",
      message: `the file has ${100 * MiB} bytes, for which the memory of the run has no room: read it by fs.createReadStream, or in parts by fs.read`,
    });
    expect(
      await run.value(
        `const part = await fs.promises.open("/tmp/large"); const { bytesRead } = await part.read(Buffer.alloc(${10 * MiB})); await part.close(); return bytesRead;`,
        { limits },
      ),
    ).toBe(10 * MiB);
    expect(
      await run.value(`fs.truncateSync("/tmp/large", ${20 * MiB}); return (await fs.promises.readFile("/tmp/large")).length;`, { limits }),
    ).toBe(20 * MiB);
  });
});
