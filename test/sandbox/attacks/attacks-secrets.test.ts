import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { errorOf, requestFor, type SandboxFixture, type SandboxRequest, startSandbox } from "../sandbox-fixture.ts";

/** A victim with a secret and an attacker share a process, one after the other: the attacker must not find the secret. */
let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await startSandbox();
});
afterAll(() => fixture.stop());

const secret = "s3cr3t-of-the-victim";
const run = async (code: string, request: SandboxRequest): Promise<unknown> => {
  const execution: Execution = await fixture.sandbox.execute(
    requestFor(await fixture.bundle(code), { limits: { memoryMb: 64 }, ...request }),
  );
  return execution.outcome === "returned" ? JSON.parse(execution.result ?? "null") : errorOf(execution);
};
const victim = (body: string): Promise<unknown> =>
  run(`export default { name: "v", props: { token: "string" }, async run() { ${body}; return 1; } }`, {
    source: "dc_victim",
    owner: "u_victim",
    props: JSON.stringify({ token: secret }),
  });
const thief = (body: string, request: SandboxRequest = {}): Promise<unknown> =>
  run(`export default { name: "t", async run(event) { ${body} } }`, { source: "dc_thief", owner: "u_thief", ...request });

describe("other sources' secrets", () => {
  it.each([
    ["a global", `globalThis.kept = this.token`, `return globalThis.kept ?? null`],
    ["a prototype", `Object.prototype.kept = this.token; Array.prototype.kept = this.token`, `return ({}).kept ?? [].kept ?? null`],
    ["a symbol of the registry", `globalThis[Symbol.for("kept")] = this.token`, `return globalThis[Symbol.for("kept")] ?? null`],
    [
      "a built-in module",
      `__builtin("util").kept = this.token; __builtin("events").kept = this.token`,
      `return __builtin("util").kept ?? __builtin("events").kept ?? null`,
    ],
    [
      "the environment",
      `process.env.TOKEN = this.token; process.argv.push(this.token); process.title = this.token`,
      `return JSON.stringify([process.env, process.argv, process.title]).includes("s3cr3t") ? 1 : null`,
    ],
    [
      "a file of the guest's own",
      `__builtin("fs").writeFileSync("/tmp/kept", this.token)`,
      `try { return __builtin("fs").readFileSync("/tmp/kept", "utf8"); } catch { return null; }`,
    ],
    [
      "a channel by name",
      `new BroadcastChannel("kept").postMessage(this.token)`,
      `try { const c = new BroadcastChannel("kept"); return await new Promise((ok) => { c.onmessage = (e) => ok(e.data); setTimeout(() => ok(null), 50); }); } catch { return null; }`,
    ],
    [
      "the agent of requests",
      `__builtin("http").globalAgent.options.headers = { token: this.token }`,
      `return __builtin("http").globalAgent.options?.headers ?? null`,
    ],
    ["static parts of expressions", `/s3cr3t.*/.test(this.token)`, `return String(RegExp.lastMatch).includes("s3cr3t") || null`],
    [
      "fresh memory",
      `const b = Buffer.from(this.token.repeat(1000)); globalThis.b = b`,
      `for (let i = 0; i < 50; i++) if (Buffer.allocUnsafe(20000).includes("s3cr3t") || Buffer.from(new ArrayBuffer(20000)).includes("s3cr3t")) return 1; return null`,
    ],
  ])("are not left in %s", async (_, hide, find) => {
    await victim(`try { ${hide} } catch {}`);
    expect(await thief(find)).toBeNull();
  });

  it("are not shared by two sources of one bundle, or of one owner", async () => {
    const code = `let kept = null; export default { name: "s", props: { token: "string" }, run() { const found = kept; kept = this.token ?? null; return found; } }`;
    expect(await run(code, { source: "dc_one", owner: "u_1", props: `{"token":"${secret}"}` })).toBeNull();
    expect(await run(code, { source: "dc_two", owner: "u_1" })).toBeNull();
    expect(await run(code, { source: "dc_three", owner: "u_2" })).toBeNull();
    expect(await run(code, { source: "dc_one", owner: "u_1" })).toBe(secret);
  });

  it("are removed with their deployment: another revision of a source starts without them", async () => {
    const code = `export default { name: "s", props: { token: "string" }, run() { const found = globalThis.kept ?? null; globalThis.kept = this.token ?? null; return found; } }`;
    expect(await run(code, { source: "dc_rev", revision: "d_1", props: `{"token":"${secret}"}` })).toBeNull();
    expect(await run(code, { source: "dc_rev", revision: "d_1" })).toBe(secret);
    expect(await run(code, { source: "dc_rev", revision: "d_2" })).toBeNull();
  });

  it("cannot be reached by the id of another source's key, hash, socket or stream", async () => {
    await victim(
      `globalThis.key = await crypto.subtle.importKey("raw", new TextEncoder().encode(this.token.padEnd(32).slice(0, 32)), "AES-GCM", true, ["encrypt"]); __builtin("net").connect({ host: "127.0.0.1", port: 1 }).on("error", () => {}); globalThis.z = __builtin("zlib").createGzip(); z.write(this.token)`,
    );
    const body = `const own = await crypto.subtle.importKey("raw", new Uint8Array(32), "AES-GCM", true, ["encrypt"]); const out = [];
      for (const field of [...Object.getOwnPropertySymbols(own), ...Object.getOwnPropertyNames(own)]) for (let id = 0; id < 20; id++) try { const forged = Object.create(Object.getPrototypeOf(own), { [field]: { value: id } }); out.push(Buffer.from(await crypto.subtle.exportKey("raw", forged)).toString()); } catch {}
      return out.filter((text) => text.includes("s3cr3t"));`;
    expect(await thief(body)).toEqual([]);
  });

  it("are in no error caused by the end of the process, and in no outcome of other sources", async () => {
    const code = `export default { name: "v", props: { token: "string" }, run() { const a = [this.token]; a.length = 2 ** 32 - 1; a.fill(this.token); } }`;
    const report = await run(code, {
      source: "dc_dies",
      owner: "u_victim",
      props: `{"token":"${secret}"}`,
      limits: { timeoutMs: 500, memoryMb: 32 },
    });
    expect(JSON.stringify(report)).not.toContain("s3cr3t");
    expect(await thief(`return null`)).toBeNull();
  });

  it("are not visible in the environment, arguments and readable files of a process", async () => {
    await victim(`globalThis.kept = this.token`);
    const body = `const out = []; for (const path of ["/proc/self/environ", "/proc/self/cmdline", "/proc/self/maps", "/dev/shm", "/tmp"]) try { out.push(String(__builtin("fs").readFileSync(path))); } catch {} return out.join().includes("s3cr3t") ? 1 : null;`;
    expect(await thief(body)).toBeNull();
  });
});
