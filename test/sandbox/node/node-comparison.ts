import { spawnSync } from "node:child_process";
import { expect } from "vitest";
import { errorOf, type SandboxFixture } from "../sandbox-fixture.ts";

/**
 * A snippet is the body of an async function that is given `print` and `require`. Each is run in Node itself and in an isolate, and what it
 * prints must be the same, so that the expected values are Node's and not ours.
 */
export type Snippets = Readonly<Record<string, string>>;

// Values are printed as JSON with a few types written out, not with `inspect`, which is under test itself.
const printer = `const lines = []; const plain = (v) => v === undefined ? "undefined" : typeof v === "bigint" ? v + "n" : typeof v === "symbol" ? String(v) : typeof v === "function" ? "function " + v.name : v instanceof Error ? { error: v.message, code: v.code, name: v.name } : ArrayBuffer.isView(v) ? [...new Uint8Array(v.buffer, v.byteOffset, v.byteLength)] : v instanceof Map || v instanceof Set ? [...v].map(plain) : v instanceof Date || v === null || typeof v !== "object" ? v : Array.isArray(v) ? v.map(plain) : Object.fromEntries(Object.entries(v).map(([k, x]) => [k, plain(x)]));
const print = (...values) => { lines.push(values.map((v) => typeof v === "string" ? v : JSON.stringify(plain(v))).join(" ")); };
const attempt = (f) => { try { return f(); } catch (error) { return { threw: error.name, code: error.code, message: error.message }; } };`;

const functionsOf = (snippets: Snippets): string =>
  Object.entries(snippets)
    .map(([name, body]) => `${JSON.stringify(name)}: async () => { ${body} }`)
    .join(",\n");

function programOf(snippets: Snippets): string {
  return `${printer}\nconst snippets = {\n${functionsOf(snippets)}\n};
const results = {};
for (const [name, run] of Object.entries(snippets)) { lines.length = 0; try { await run(); } catch (error) { print("THREW", String(error && error.stack)); } results[name] = [...lines]; }`;
}

function inNode(snippets: Snippets): Record<string, string[]> {
  const code = `const require = (await import("node:module")).createRequire("/tmp/x.js"); process.chdir("/tmp");\n${programOf(snippets)}\nconsole.log("\\n#" + JSON.stringify(results));`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--no-warnings", "--input-type=module", "-e", code], {
    encoding: "utf8",
  });
  const line = stdout.split("\n#").at(-1);
  if (line === undefined || !line.startsWith("{")) throw new Error(`Node failed: ${stderr}`);
  return JSON.parse(line) as Record<string, string[]>;
}

async function inSandbox(fixture: SandboxFixture, snippets: Snippets): Promise<Record<string, string[]>> {
  const execution = await fixture.run(
    `const require = (name) => globalThis.__builtin(name); const builtin = process; export default { name: "compare", async run() { ${programOf(snippets)}; return results; } }`,
    { limits: { memoryMb: 256 } },
  );
  if (execution.outcome !== "returned") throw new Error(JSON.stringify(errorOf(execution)));
  return JSON.parse(execution.result ?? "null") as Record<string, string[]>;
}

export interface Comparison {
  readonly node: Record<string, string[]>;
  readonly sandbox: Record<string, string[]>;
}

/** Runs a table of snippets once in Node and once in one isolate. */
export async function compare(fixture: SandboxFixture, snippets: Snippets): Promise<Comparison> {
  return { node: inNode(snippets), sandbox: await inSandbox(fixture, snippets) };
}

export function expectSame({ node, sandbox }: Comparison, name: string): void {
  expect(sandbox[name]).toEqual(node[name]);
  expect(node[name]?.join("\n")).not.toContain("THREW");
}
