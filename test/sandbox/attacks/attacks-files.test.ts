import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FilesFixture, startFilesSandbox } from "../file-steps.ts";
import { errorOf } from "../sandbox-fixture.ts";

/** Steps that try to reach more of the files of runs than their own, and owners who fill them. */
let fixture: FilesFixture;
beforeAll(async () => {
  fixture = await startFilesSandbox();
});
afterAll(() => fixture.stop());

describe("a hostile step", () => {
  it("finds no file outside of /tmp, whatever the path, and none of the host", async () => {
    const run = fixture.startRun();
    const body = `
      const results = [];
      for (const path of ["/etc/passwd", "/tmp/../etc/passwd", "/proc/self/environ", "../../../etc/passwd", "/tmp/a/../../x"]) {
        for (const act of [() => fs.readFileSync(path), () => fs.writeFileSync(path, "x")]) {
          try { act(); results.push(path); } catch (error) { results.push(error.code); }
        }
      }
      for (const name of ["__proto__", "constructor", "__proto__/polluted", "..."]) {
        fs.mkdirSync("/tmp/d/" + name, { recursive: true });
        await $.files.open("../../../" + name + "/f").write(name);
      }
      try { fs.writeFileSync("/tmp/nul\\0", "x"); } catch (error) { results.push(error.code); }
      fs.writeFileSync("/tmp/half\\ud800", "x");
      return [new Set(results).size, results.at(-1), typeof {}.polluted];`;
    expect(await run.value(body)).toEqual([3, "ERR_INVALID_ARG_VALUE", "undefined"]);
    const names = await run.value(`return fs.readdirSync("/tmp", { recursive: true });`);
    expect(names).toContain("d/__proto__/polluted");
    expect(names).toContain(".file-store/__proto__/polluted/f");
    expect(names).toContain("half\ufffd");
  });

  it("is ended when it forges the changes of its files", async () => {
    const forged = JSON.stringify({
      removed: [],
      put: [{ kind: "file", path: "../../x", bytes: 0, parts: [], mode: 0o644, modifiedMs: 0 }],
    });
    const code = `const { stringify } = JSON; JSON.stringify = (value) => value?.removed ? ${JSON.stringify(forged)} : stringify(value);
      export default { name: "a", async run() { __builtin("fs").writeFileSync("/tmp/a", "x"); return Buffer.name; } };`;
    const run = fixture.startRun();
    const execution = await run.step("", { bundle: await fixture.bundle(code), revision: "forged" });
    expect(errorOf(execution)).toMatchObject({ outcome: "limited", code: "bridge_limit" });
    expect(await run.value(`return fs.readdirSync("/tmp");`)).toEqual([]);
  });

  it("gets an error for a part that another run has, or that is no part of the run", async () => {
    const [victim, attacker] = [fixture.startRun(), fixture.startRun()];
    await victim.step(`fs.writeFileSync("/tmp/secret", "s");`);
    const stolen = { ...attacker.access, layers: victim.access.layers };
    expect(errorOf(await attacker.step(`return fs.readFileSync("/tmp/secret", "utf8");`, { files: stolen }))).toMatchObject({
      outcome: "threw",
      message: `EIO: i/o error, scandir: the files of run ${stolen.run} are gone`,
    });
    const owner = "u_2";
    expect(errorOf(await attacker.step(`return fs.readFileSync("/tmp/secret", "utf8");`, { owner, files: victim.access }))).toMatchObject({
      outcome: "threw",
    });
  });

  it("that replaces intrinsics breaks its own files, and neither those of later steps nor the process", async () => {
    const run = fixture.startRun();
    await run.step(`fs.writeFileSync("/tmp/a", "kept");`);
    const code = `for (const [owner, name] of [[Map.prototype, "get"], [Set.prototype, "add"], [Array.prototype, "map"], [Promise.prototype, "then"], [Uint8Array.prototype.__proto__, "subarray"]])
        owner[name] = () => { throw new Error("replaced"); };
      export default { name: "a", run() { const fs = __builtin("fs"); fs.writeFileSync("/tmp/a", "broken"); return Buffer.name; } };`;
    const execution = await run.step("", { bundle: await fixture.bundle(code), revision: "broken" });
    expect(["threw", "limited", "returned"]).toContain(execution.outcome);
    expect(await run.value(`return fs.readFileSync("/tmp/a", "utf8");`)).toMatch(/kept|broken/);
  });
});
