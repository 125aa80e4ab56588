import { Console } from "node:console";
import { Writable } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ended, type SandboxFixture, shareSandbox } from "./sandbox-fixture.ts";

/** Calls of `console`, each made in a sandbox and by Node's own: the text must be the same. Times and traces differ, and are left out. */
const calls = [
  `c.log("a", 1, true, null, undefined, 1n, Symbol("s"), -0, NaN)`,
  `c.log({ a: { b: { c: { d: 1 } } }, list: [1, [2, [3, [4]]]], f() {}, g: class A {}, [Symbol("k")]: 1 })`,
  `c.log([], {}, [,1], new Map([["a", { b: 1 }]]), new Set([1]), new Date(0), /x/g, new Uint8Array(3), [undefined, null])`,
  `c.log("x".repeat(200), { long: "y".repeat(90), other: "z".repeat(90), third: 1 })`,
  `c.log(Array.from({ length: 120 }, (_, n) => n))`,
  `c.log({ text: "it's", quotes: 'a "b"', both: "'\\"", line: "a\\nb" })`,
  `c.log("%s|%d|%i|%f|%j|%o|%O|%c|%%|%x", "s", "5.5", "7.9", "1.5", { a: 1 }, [1], { b: 2 }, "css", "rest")`,
  `c.log("%s", { toString() { return "own"; } }, "%s")`,
  `c.log(Object.create(null), Object.create({ inherited: 1 }), new (class Point { x = 1; })())`,
  `const a = { n: 1 }; a.self = a; c.log(a)`,
  `c.log({ get a() { return 1; }, set b(v) {} })`,
  `c.error(new Error("no stack to compare").message)`,
  `c.dir({ a: { b: { c: { d: {} } } } }, { depth: 0 })`,
  `c.table([{ a: 1, b: "x" }, { a: 2, c: { d: 1 } }])`,
  `c.table([[1, 2], [3, 4]])`,
  `c.table([1, "two", { three: 3 }])`,
  `c.table({ r1: { a: 1 }, r2: { a: 2 } }, ["a"])`,
  `c.table(new Map([["k", 1], ["l", { m: 2 }]]))`,
  `c.table(new Set([1, "b"]))`,
  `c.table("no table"); c.table(5); c.table([])`,
  `c.group("one", 1); c.log("in"); c.group(); c.log("deeper\\nline"); c.groupEnd(); c.groupEnd(); c.groupEnd(); c.log("out")`,
  `c.count(); c.count("x"); c.count(); c.countReset(); c.count()`,
  `c.assert(true, "no"); c.assert(false); c.assert(0, "text %s", "arg"); c.assert(null, { a: 1 })`,
];

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await shareSandbox();
});
afterAll(() => fixture.stop());

it("prints as Node's console does", async () => {
  const ours: string[] = [];
  for (const call of calls) {
    const { logs } = ended(await fixture.run(`export default { name: "c", run() { const c = console; ${call}; } };`));
    ours.push(logs.map(({ msg }) => `${msg ?? ""}\n`).join(""));
  }
  expect(ours).toEqual(calls.map(inNode));
});

function inNode(call: string): string {
  let printed = "";
  const stream = new Writable({
    write(chunk: Buffer, _, done) {
      printed += chunk.toString();
      done();
    },
  });
  // The statements above, and nothing else.
  new Function("c", call)(new Console({ stdout: stream, stderr: stream, colorMode: false }));
  return printed;
}

it("formats only as much of a 10 MB value as a log line can hold", async () => {
  const code = `export default { name: "c", async run() {
    console.log(Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => ["key" + n, "x".repeat(90)])));
    await new Promise((resume) => setTimeout(resume, 1)); // Each entry has its own time limit.
    console.log({ bytes: new Uint8Array(10_000_000), text: "x".repeat(10_000_000) }); } };`;
  const { outcome, logs } = ended(await fixture.run(code));
  expect([outcome, logs.length]).toEqual(["returned", 2]);
  expect(logs[0]?.msg).toContain("cut at");
  expect(logs[1]?.msg).toMatch(/9999900 more items[\s\S]*9990000 more characters/);
});

it("measures durations, accepts unknown labels, and starts empty in each run", async () => {
  const code = `export default { name: "c", run() { console.time("t"); console.timeEnd("t"); console.timeEnd("t"); console.count(); console.group("open"); console.trace("here"); } };`;
  const lines = async (): Promise<unknown> =>
    ended(await fixture.run(code, { source: "dc_console" })).logs.map(({ k, msg }) => [k, msg?.replace(/\d+ms/, "0ms").split("\n")[0]]);
  const expected = [
    ["console.log", "t: 0ms"],
    ["console.warn", "No such label 't' for console.timeEnd()"],
    ["console.log", "default: 1"],
    ["console.log", "open"],
    ["console.trace", "  Trace: here"],
  ];
  expect(await lines()).toEqual(expected);
  expect(await lines()).toEqual(expected);
});

it("gives code left over from an earlier run the current db, and no response of another request", async () => {
  const code = `let first; export default { name: "c", props: { db: "$.service.db", http: "$.interface.http" }, run() {
    first ??= this; first.db.set("n", (first.db.get("n") ?? 0) + 1);
    if (first !== this) first.http.respond({ status: 200 }); } };`;
  const run = (db: Record<string, string>) => fixture.run(code, { source: "dc_kept", db: { db } });
  expect(ended(await run({ n: "1" })).db).toEqual({ db: { n: "2" } });
  const second = ended(await run({ n: "5" }));
  expect([second.db, second.response]).toEqual([{ db: { n: "6" } }, null]);
  expect(second.logs[0]?.msg).toContain("respond() of an earlier run");
});
