import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Execution } from "../../runner/sandbox/port.ts";
import { type FilesFixture, startFilesSandbox } from "./file-steps.ts";
import { errorOf } from "./sandbox-fixture.ts";

let fixture: FilesFixture;
let server: Server;
let origin = "";
const requested: string[] = [];
beforeAll(async () => {
  fixture = await startFilesSandbox();
  server = createServer((request, response) => {
    requested.push(request.url ?? "");
    response.writeHead(request.url?.startsWith("/ok") === true ? 200 : 404).end("hällo");
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // It listens on a port.
});
afterAll(async () => {
  await fixture.stop();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  requested.length = 0;
  fixture.files.calls.length = 0;
});

const file = `{ f: "file" }`;
const given = (f: unknown) => ({ props: JSON.stringify({ f }) });
type Run = ReturnType<FilesFixture["startRun"]>;
const value = (run: Run, f: unknown, body: string): Promise<unknown> => run.value(body, given(f), file);
const fails = async (execution: Promise<Execution>) => errorOf(await execution);

describe("a file prop with a path", () => {
  it("has the file that an earlier step left below /tmp, and writes to it", async () => {
    const run = fixture.startRun();
    await run.step(`fs.mkdirSync("/tmp/out"); fs.writeFileSync("/tmp/out/report.txt", "first");`);
    const read = `return [this.f.path, this.f.name, this.f.size, this.f.isFile(), await this.f.toEncodedString(), (await this.f.toBuffer()).toString("base64")];`;
    const found = ["report.txt", 5, true, "first", "Zmlyc3Q="];
    expect(await value(run, "/tmp/out/report.txt", read)).toEqual(["/tmp/out/report.txt", ...found]);
    expect(await value(run, "out/report.txt", read)).toEqual(["out/report.txt", ...found]);
    const streamed = `let text = ""; for await (const chunk of this.f.createReadStream()) text += chunk; return [text, (await this.f.toUrl()).startsWith("https://e/")];`;
    expect(await value(run, "/tmp/out/report.txt", streamed)).toEqual(["first", true]);
    await value(run, "/tmp/out/report.txt", `await this.f.write("second"); await this.f.toFile("/tmp/copy.txt");`);
    expect(await run.value(`return ["out/report.txt", "copy.txt"].map((path) => fs.readFileSync("/tmp/" + path, "utf8"));`)).toEqual([
      "second",
      "second",
    ]);
  });

  it("has the file of $.files with this path, also by what the file is as JSON", async () => {
    const run = fixture.startRun();
    const left = await run.value(`fs.writeFileSync("/tmp/a.txt", "other"); return await $.files.open("a.txt").write("stored");`);
    expect(left).toEqual({ path: "a.txt", name: "a.txt" });
    const read = `return [await this.f.toEncodedString(), JSON.stringify(this.f)];`;
    expect(await value(run, "a.txt", read)).toEqual(["stored", `{"path":"a.txt","name":"a.txt"}`]);
    expect(await value(run, left, read)).toEqual(["stored", `{"path":"a.txt","name":"a.txt"}`]);
    expect(await value(run, "/tmp/a.txt", read)).toEqual(["other", `{"path":"/tmp/a.txt","name":"a.txt"}`]);
    const again = `return await $.files.openDescriptor(JSON.parse(JSON.stringify(this.f))).toEncodedString();`;
    expect(await value(run, "/tmp/a.txt", again)).toBe("other");
  });

  it("has a file of $.files whose name looks like a URL, by its JSON", async () => {
    const run = fixture.startRun();
    const left = await run.value(`return await $.files.open("report:2026.csv").write("stored");`);
    expect(await value(run, left, `return await this.f.toEncodedString();`)).toBe("stored");
  });

  it("takes what an expression gives, and refuses what is no file", async () => {
    const run = fixture.startRun();
    await run.step(`fs.writeFileSync("/tmp/a.txt", "a");`);
    expect(await value(run, `{{ "/tmp/" + "a.txt" }}`, `return await this.f.toEncodedString();`)).toBe("a");
    expect(await value(run, `{{ ({ path: "/tmp/a.txt", name: "a.txt" }) }}`, `return await this.f.toEncodedString();`)).toBe("a");
    const refused = await fails(run.step("return 1;", given(`{{ "ftp://example.com/a" }}`), file));
    expect(refused).toMatchObject({
      code: "expression_failed",
      message: expect.stringContaining("it must be a path below /tmp") as string,
    });
    const forged = await fails(run.step("return 1;", given("/etc/passwd"), file));
    expect(forged).toMatchObject({ code: "invalid_file", message: expect.stringContaining("prop 'f' is '/etc/passwd'") as string });
  });

  it("fails at the first use if there is no such file, and creates none", async () => {
    const run = fixture.startRun();
    expect(await value(run, "/tmp/none.txt", "return 1;")).toBe(1);
    const error = await fails(run.step("await this.f.toBuffer();", given("none.txt"), file));
    expect(error).toMatchObject({ outcome: "threw", message: "ENOENT: no such file or directory, open '/tmp/none.txt'" });
    expect(run.access.layers).toEqual([]);
  });

  it("reads no list of files if the step does not use it", async () => {
    const run = fixture.startRun();
    await run.step(`fs.writeFileSync("/tmp/a.txt", "a");`);
    fixture.files.calls.length = 0;
    await value(run, "a.txt", "return this.f.name;");
    expect(fixture.files.calls).toEqual([]);
  });

  it("may be a list, and may be absent", async () => {
    const run = fixture.startRun();
    await run.step(`fs.writeFileSync("/tmp/a.txt", "a"); fs.writeFileSync("/tmp/b.txt", "b");`);
    const all = `return [await Promise.all(this.f.map((each) => each.toEncodedString())), this.g ?? null, this.h ?? null];`;
    const props = `{ f: "file[]", g: { type: "file", optional: true }, h: { type: "file[]", optional: true } }`;
    expect(await run.value(all, { props: JSON.stringify({ f: ["a.txt", "/tmp/b.txt"], g: "" }) }, props)).toEqual([["a", "b"], null, null]);
  });
});

describe("a file prop with a URL", () => {
  it("reads it, as often as it is asked for", async () => {
    const run = fixture.startRun();
    const body = `let text = ""; for await (const chunk of this.f.createReadStream()) text += chunk;
      await this.f.toFile("/tmp/copy.txt");
      return [this.f.name, (await this.f.toBuffer()).length, await this.f.toEncodedString("latin1", 0, 1), text, fs.readFileSync("/tmp/copy.txt", "utf8"),
        await this.f.toUrl(), this.f.isFile(), this.f.isDirectory()];`;
    const url = `${origin}/ok/a%20b.txt?token=secret`;
    expect(await value(run, url, body)).toEqual(["a b.txt", 6, "h", "hällo", "hällo", url, true, false]);
    expect(requested).toHaveLength(4);
    expect(await value(run, url, "return JSON.stringify(this.f);")).toBe(JSON.stringify({ path: url, name: "a b.txt" }));
    expect(requested).toHaveLength(4);
  });

  it("reports another status, without the query of the URL", async () => {
    const read = await fails(fixture.startRun().step("await this.f.toBuffer();", given(`${origin}/none?token=secret`), file));
    expect(read.message).toBe(`'${origin}/none' was answered with status 404`);
  });

  it.each([
    `this.f.write("x")`,
    `this.f.fromFile("/tmp/a")`,
    `this.f.fromUrl("http://example.com")`,
    `this.f.fromReadableStream([])`,
    `this.f.createWriteStream()`,
    `this.f.delete()`,
  ])("refuses %s", async (call) => {
    const error = await fails(fixture.startRun().step(`await ${call};`, given(`${origin}/ok`), file));
    expect(error).toMatchObject({ code: "file_read_only", message: expect.stringContaining("can only be read") as string });
    expect(requested).toEqual([]);
  });

  it.each([
    ["/a/report%20b.pdf", "report b.pdf"],
    ["/..%2F..%2Fx", "..%2F..%2Fx"],
    ["/a%00b", "a%00b"],
    ["/%ff", "%ff"],
    ["/", "127.0.0.1"],
  ])("of %s has the name %s, which is no path", async (path, name) => {
    expect(await value(fixture.startRun(), `${origin}${path}`, `return this.f.name;`)).toBe(name);
  });

  it("says that size and time of change are unknown", async () => {
    for (const field of ["size", "modifiedAt"]) {
      const error = await fails(fixture.startRun().step(`return this.f.${field};`, given(`${origin}/ok`), file));
      expect(error).toMatchObject({ code: "invalid_file", message: expect.stringContaining("is unknown") as string });
    }
  });
});

describe("a file prop of a source", () => {
  const code = `import "node:fs"; export default { name: "s", type: "source", version: "1.0.0", props: { f: "file" }, async run() { console.log(await this.f.toEncodedString()); } };`;

  it("reads a URL", async () => {
    const execution = await fixture.run(code, given(`${origin}/ok`));
    expect(execution).toMatchObject({ outcome: "returned", logs: [{ msg: "hällo" }] });
  });

  it("refuses a path: a source has no files of a run", async () => {
    const error = errorOf(await fixture.run(code, given("/tmp/a.txt")));
    expect(error).toMatchObject({ code: "files_unavailable", message: expect.stringContaining("only steps of workflows") as string });
  });
});
