import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fileLimits } from "../../domain/files/run-files.ts";
import { NotFound, QuotaExceeded, Unavailable } from "../../domain/errors.ts";
import { runFilesConformance } from "../conformance/run-files.ts";
import { memoryRunFiles } from "../support/memory-run-files.ts";
import { actionOf } from "./actions/action-support.ts";
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

/** All of /tmp: path, type and mode, size and time, and content. */
const everything = `return fs.readdirSync("/tmp", { recursive: true }).sort().map((path) => {
  const stats = fs.statSync("/tmp/" + path);
  return [path, stats.mode.toString(8), stats.mtimeMs, stats.isFile() ? fs.readFileSync("/tmp/" + path).toString("base64") : null];
});`;

describe("the files of a run", () => {
  it("are found by the next step as the step before left them", async () => {
    const run = fixture.startRun();
    const body = `
      fs.mkdirSync("/tmp/dir/sub dir", { recursive: true });
      fs.writeFileSync("/tmp/text.txt", "hällo\\n");
      fs.writeFileSync("/tmp/dir/binary", Buffer.from([0, 255, 128, 10]));
      fs.writeFileSync("/tmp/dir/sub dir/ünï 😀", "");
      fs.writeFileSync("/tmp/__proto__", "p");
      fs.mkdirSync("/tmp/constructor");
      fs.writeFileSync("/tmp/large", Buffer.alloc(1_300_000, "0123456789a"));
      fs.chmodSync("/tmp/text.txt", 0o640);
      fs.chmodSync("/tmp/dir", "700");
      fs.utimesSync("/tmp/text.txt", 1, 1_500_000_000.25);
      await $.files.open("reports/a.csv").write("1,2");
      ${everything}`;
    const left = await run.value(body);
    expect(left).toHaveLength(11);
    expect(await run.value(everything)).toEqual(left);
    expect(
      await run.value(`return [await $.files.open("reports/a.csv").toEncodedString(), fs.readFileSync("/tmp/text.txt", "utf8")];`),
    ).toEqual(["1,2", "hällo\n"]);
  });

  it("do not count once they are removed, also while they are open", async () => {
    const left = await fixture.startRun().value(`
      const size = 1_000_000;
      for (let n = 0; n < 600; n++) {
        const fd = fs.openSync("/tmp/x", "w");
        fs.unlinkSync("/tmp/x");
        fs.ftruncateSync(fd, size);
        fs.ftruncateSync(fd, 0);
        fs.ftruncateSync(fd, size);
        fs.closeSync(fd);
      }
      fs.writeFileSync("/tmp/y", "");
      fs.truncateSync("/tmp/y", 512 * 2 ** 20);
      let code;
      try { fs.writeFileSync("/tmp/z", "z"); } catch (error) { ({ code } = error); }
      fs.rmSync("/tmp/y");
      return [code, fs.readdirSync("/tmp")];`);
    expect(left).toEqual(["ENOSPC", ["z"]]);
  });

  it("are not those of another run", async () => {
    await fixture.startRun().step(`fs.writeFileSync("/tmp/a", "x");`);
    expect(await fixture.startRun().value(everything)).toEqual([]);
  });

  it("are gone when a step deletes them, with all that a directory has", async () => {
    const run = fixture.startRun();
    await run.step(
      `fs.mkdirSync("/tmp/d/e", { recursive: true }); for (const name of ["a", "b", "d/f", "d/e/g"]) fs.writeFileSync("/tmp/" + name, name);`,
    );
    const deletion = await run.step(`fs.rmSync("/tmp/d", { recursive: true }); fs.unlinkSync("/tmp/a");`);
    expect(actionOf(deletion).files).toEqual({ removed: ["a", "d"], put: [] });
    expect(await run.value(`return fs.readdirSync("/tmp", { recursive: true });`)).toEqual(["b"]);
  });

  it("move with a directory that is renamed, without being stored again", async () => {
    const run = fixture.startRun();
    await run.step(
      `fs.mkdirSync("/tmp/d/e", { recursive: true }); fs.writeFileSync("/tmp/d/e/f", "x"); fs.writeFileSync("/tmp/file", "y");`,
    );
    fixture.files.calls.length = 0;
    const rename = await run.step(
      `fs.renameSync("/tmp/d", "/tmp/n"); fs.copyFileSync("/tmp/n/e/f", "/tmp/copy"); fs.rmSync("/tmp/file"); fs.mkdirSync("/tmp/file");`,
    );
    expect(fixture.files.calls).toEqual(["list"]);
    expect(actionOf(rename).files?.removed).toEqual(["d"]);
    expect(actionOf(rename).files?.put.map(({ path }) => path)).toEqual(["n", "n/e", "n/e/f", "copy", "file"]);
    const body = `return [fs.readdirSync("/tmp", { recursive: true }), fs.readFileSync("/tmp/n/e/f", "utf8"), fs.readFileSync("/tmp/copy", "utf8")];`;
    expect(await run.value(body)).toEqual([["copy", "file", "n", "n/e", "n/e/f"], "x", "x"]);
  });

  it("are changed in place: parts that stay are not stored again", async () => {
    const run = fixture.startRun();
    await run.step(`fs.writeFileSync("/tmp/f", Buffer.alloc(3 * ${fileLimits.partBytes} + 100, "a"));`);
    fixture.files.calls.length = 0;
    await run.step(
      `const fd = fs.openSync("/tmp/f", "r+"); fs.writeSync(fd, "XY", ${2 * fileLimits.partBytes} - 1); fs.closeSync(fd); await fs.promises.appendFile("/tmp/f", "end");`,
    );
    // The parts at the change, and the last one.
    expect(fixture.files.calls.toSorted()).toEqual(["list", "read", "read", "read", "write", "write", "write"]);
    const body = `const bytes = fs.readFileSync("/tmp/f"); return [bytes.length, bytes.indexOf("XY"), bytes.subarray(-4).toString(), bytes.filter((byte) => byte === 97).length];`;
    expect(await run.value(body)).toEqual([
      3 * fileLimits.partBytes + 103,
      2 * fileLimits.partBytes - 1,
      "aend",
      3 * fileLimits.partBytes + 98,
    ]);
  });

  it("keep the order of what is appended at once, and holes", async () => {
    const run = fixture.startRun();
    await run.step(
      `fs.writeFileSync("/tmp/log", "0"); fs.writeFileSync("/tmp/hole", "ab"); fs.truncateSync("/tmp/hole", 1); fs.truncateSync("/tmp/hole", ${4 * fileLimits.partBytes});`,
    );
    await run.step(
      `await Promise.all(Array.from({ length: 20 }, (_, n) => fs.promises.appendFile("/tmp/log", "," + (n + 1)))); await fs.promises.truncate("/tmp/hole", ${fileLimits.partBytes + 5});`,
    );
    const body = `const hole = await fs.promises.readFile("/tmp/hole"); return [fs.readFileSync("/tmp/log", "utf8"), hole.length, hole[0], hole.every((byte, at) => at === 0 || byte === 0)];`;
    const numbers = Array.from({ length: 21 }, (_, n) => n).join(",");
    expect(await run.value(body)).toEqual([numbers, fileLimits.partBytes + 5, 97, true]);
  });

  it("include what was written to a file that is still open", async () => {
    const run = fixture.startRun();
    await run.step(
      `fs.writeSync(fs.openSync("/tmp/open", "w"), "written"); const stream = fs.createWriteStream("/tmp/stream"); stream.write("streamed");`,
    );
    expect(await run.value(`return [fs.readFileSync("/tmp/open", "utf8"), fs.readFileSync("/tmp/stream", "utf8")];`)).toEqual([
      "written",
      "streamed",
    ]);
  });

  it("stay as they were when a step throws", async () => {
    const run = fixture.startRun();
    await run.step(`fs.writeFileSync("/tmp/a", "1");`);
    const failed = await run.step(`fs.writeFileSync("/tmp/a", "2"); fs.writeFileSync("/tmp/b", "2"); throw new Error("no");`);
    expect(actionOf(failed).files).toBeUndefined();
    expect(await run.value(`return [fs.readFileSync("/tmp/a", "utf8"), fs.existsSync("/tmp/b")];`)).toEqual(["1", false]);
  });
});

describe("a step", () => {
  it("that uses no files asks for none, and one that only reads stores none", async () => {
    const run = fixture.startRun();
    await run.step(`fs.writeFileSync("/tmp/a", "x");`);
    fixture.files.calls.length = 0;
    expect(actionOf(await run.step(`return 1;`)).files).toBeUndefined();
    expect(fixture.files.calls).toEqual([]);
    const reading = await run.step(
      `fs.readFileSync("/tmp/a"); fs.readFileSync("/tmp/a"); fs.existsSync("/tmp/b"); for await (const file of $.files.dir()) throw file;`,
    );
    expect(actionOf(reading).files).toBeUndefined();
    expect(fixture.files.calls).toEqual(["list", "read"]);
  });

  it("in a warm context finds nothing of another run, and no descriptor of it", async () => {
    const code = `let fd; export default { name: "a", async run({ $ }) {
      const fs = require("node:fs");
      const left = [fs.readdirSync("/tmp"), fd === undefined ? null : (() => { try { return fs.readSync(fd, Buffer.alloc(9)); } catch (error) { return error.code; } })()];
      fs.writeFileSync("/tmp/a", "secret"); $.files.open("b"); fd = fs.openSync("/tmp/a");
      return left;
    } };`;
    const bundle = await fixture.bundle(code);
    const runs = [fixture.startRun(), fixture.startRun()];
    const step = { bundle, source: "p_1/c_warm", revision: "1" };
    expect(await runs[0]?.value("", step)).toEqual([[], null]);
    expect(await runs[1]?.value("", step)).toEqual([[], "EBADF"]);
    expect(await runs[0]?.value("", step)).toEqual([[".file-store", "a"], "EBADF"]);
    // Without files of a run, the context's own.
    expect(await fixture.startRun().value("", { ...step, files: undefined } as never)).toEqual([[], "EBADF"]);
  });

  it.each([
    ["synchronous", `fs.writeFileSync("/tmp/a", "2"); fs.readFileSync("/tmp/b");`],
    ["asynchronous", `await fs.promises.readFile("/tmp/b");`],
    ["streaming", `for await (const chunk of fs.createReadStream("/tmp/b"));`],
  ])("gets an EIO with the reason when the host fails in the middle: %s", async (_, reading) => {
    const run = fixture.startRun();
    await run.step(`fs.writeFileSync("/tmp/b", "1");`);
    fixture.files.failures.push({ on: "read", error: new NotFound("the files of the run are gone", { code: "files_gone" }) });
    const body = `try { ${reading} } catch (error) { return [error.code, error.syscall, error.message, fs.readFileSync("/tmp/b", "utf8")]; }`;
    expect(await run.value(body)).toEqual(["EIO", "read", "EIO: i/o error, read: the files of the run are gone", "1"]);
  });

  it("waits while the files are unavailable", async () => {
    const run = fixture.startRun();
    await run.step(`fs.writeFileSync("/tmp/b", "1");`);
    const failure = { on: "list", error: new Unavailable("NATS is away") } as const;
    fixture.files.failures.push(failure, failure);
    expect(await run.value(`return await fs.promises.readFile("/tmp/b", "utf8");`)).toBe("1");
    expect(fixture.files.calls.slice(-4)).toEqual(["list", "list", "list", "read"]);
  });

  it("fails with ENOSPC and the reason when there is no room", async () => {
    const run = fixture.startRun();
    fixture.files.failures.push({
      on: "write",
      error: new QuotaExceeded("the owner's runs have 3 bytes, the limit", { code: "files_full" }),
    });
    expect(errorOf(await run.step(`fs.writeFileSync("/tmp/b", "1");`))).toMatchObject({
      outcome: "threw",
      message: "ENOSPC: no space left on device, write: the owner's runs have 3 bytes, the limit",
    });
    const size = fileLimits.runBytes;
    const body = `const errors = []; for (const act of [() => fs.truncateSync("/tmp/f", ${size}), () => fs.appendFileSync("/tmp/f", "x")]) try { fs.existsSync("/tmp/f") || fs.writeFileSync("/tmp/f", ""); act(); } catch (error) { errors.push(error.message); } fs.rmSync("/tmp/f"); return errors;`;
    expect(await run.value(body)).toEqual([
      `ENOSPC: no space left on device, write: the files in /tmp may have 512 MiB together, ${size} bytes are in use`,
    ]);
  });

  it("fails when it leaves more files than a run may have", async () => {
    const tooMany = `for (let n = 0; n < 2_001; n++) fs.writeFileSync("/tmp/" + n, "");`;
    expect(errorOf(await fixture.startRun().step(tooMany))).toMatchObject({
      message: "ENOSPC: no space left on device, open: /tmp may have 2000 files and directories",
    });
    const long = `for (let n = 0; n < 1_000; n++) fs.writeFileSync("/tmp/" + "x".repeat(900) + n, "");`;
    expect(errorOf(await fixture.startRun().step(long))).toMatchObject({
      code: "files_too_many",
      message: expect.stringContaining("one archive") as string,
    });
    expect(errorOf(await fixture.startRun().step(`fs.writeFileSync("/tmp/" + "x".repeat(1_025), "");`)).message).toContain("ENAMETOOLONG");
  });
});

describe("files of runs in memory", () => {
  runFilesConformance(async () => {
    const files = memoryRunFiles();
    const run = { owner: "u_1", workflow: "p_1", run: "r_1" };
    return {
      files,
      others: files,
      run,
      otherRuns: [
        { ...run, owner: "u_2" },
        { ...run, workflow: "p_2" },
        { ...run, run: "r_2" },
      ],
    };
  });
});
