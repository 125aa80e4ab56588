import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { errorOf, type SandboxFixture, shareSandbox } from "../sandbox-fixture.ts";
import { returned, runAction } from "./action-support.ts";

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await shareSandbox();
});
afterAll(() => fixture.stop());

const run = (body: string, source = `p_1/c_1/${Math.random()}`): Promise<Execution> =>
  runAction(fixture, `import fs from "node:fs"; export default { name: "a", async run({ steps, $ }) { void fs.constants; ${body} } }`, {
    request: { source },
  });

describe("$.files, on /tmp", () => {
  it("writes, reads and deletes a file", async () => {
    const body = `const file = $.files.open("/a/b.txt"); await file.write("hällo");
      const read = [(await file.toBuffer()).length, await file.toEncodedString(), file.size, file.isFile(), JSON.stringify(file)];
      await file.delete(); return [...read, fs.existsSync("/tmp/.file-store/a/b.txt")];`;
    expect(returned(await run(body))).toEqual([6, "hällo", 6, true, `{"path":"a/b.txt","name":"b.txt"}`, false]);
  });

  it("creates an empty file when one is opened that does not exist", async () => {
    expect(returned(await run(`return (await $.files.open("new").toBuffer()).length;`))).toBe(0);
  });

  it("copies from and to files of /tmp", async () => {
    const body = `fs.writeFileSync("/tmp/in", "x"); const file = await $.files.open("f").fromFile("/tmp/in"); await file.toFile("/tmp/out"); return fs.readFileSync("/tmp/out", "utf8");`;
    expect(returned(await run(body))).toBe("x");
  });

  it("streams both ways", async () => {
    const body = `const stream = $.files.open("f").createWriteStream("text/plain", 6);
      stream.write("abc"); await new Promise((done) => stream.end("def", done));
      let text = ""; for await (const chunk of $.files.open("f").createReadStream()) text += chunk;
      const copy = await $.files.open("g").fromReadableStream($.files.open("f").createReadStream());
      return [text, await copy.toEncodedString()];`;
    expect(returned(await run(body))).toEqual(["abcdef", "abcdef"]);
  });

  it("stores what a URL answers", async () => {
    const server = createServer((request, response) => void response.writeHead(request.url === "/ok" ? 200 : 404).end("body"));
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo; // It listens on a port.
      const url = `http://127.0.0.1:${port}`;
      expect(returned(await run(`return await (await $.files.open("f").fromUrl("${url}/ok")).toEncodedString();`))).toBe("body");
      expect(errorOf(await run(`await $.files.open("f").fromUrl("${url}/none");`)).message).toContain("was answered with status 404");
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it("lists a directory, and opens a file by its descriptor", async () => {
    const body = `for (const name of ["b", "a", "dir/c"]) await $.files.open(name).write(name);
      const names = []; for await (const node of $.files.dir()) names.push([node.name, node.isDirectory()]);
      const deep = []; for await (const node of $.files.dir("dir")) deep.push(node.path);
      const again = $.files.openDescriptor(JSON.parse(JSON.stringify($.files.open("dir/c"))));
      return [names, deep, await again.toEncodedString()];`;
    expect(returned(await run(body))).toEqual([
      [
        ["a", false],
        ["b", false],
        ["dir", true],
      ],
      ["dir/c"],
      "dir/c",
    ]);
  });

  it("stays within the store, whatever the path", async () => {
    const body = `await $.files.open("../../etc/x").write("y"); return [fs.existsSync("/tmp/.file-store/etc/x"), fs.readdirSync("/tmp")];`;
    expect(returned(await run(body))).toEqual([true, [".file-store"]]);
    expect(errorOf(await run(`$.files.open("");`))).toMatchObject({ code: "invalid_file" });
    expect(errorOf(await run(`$.files.open({});`))).toMatchObject({ code: "invalid_file" });
    expect(errorOf(await run(`await $.files.open("a").toUrl();`))).toMatchObject({ code: "files_unavailable" });
  });

  it("is empty when the next run begins in a warm context", async () => {
    const body = `const names = []; for await (const { name } of $.files.dir()) names.push(name); $.files.open("left"); return names;`;
    expect(returned(await run(body, "p_1/c_1/warm"))).toEqual([]);
    expect(returned(await run(body, "p_1/c_1/warm"))).toEqual([]);
  });

  it("says what is missing in a context without Node's modules", async () => {
    const code = `export default { name: "a", async run({ $ }) { return [Object.keys({ ...$ }).includes("files"), $["files"]]; } }`;
    expect(errorOf(await runAction(fixture, code))).toMatchObject({ outcome: "threw", code: "files_unavailable" });
  });
});
