import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Bundle, Execution } from "../../runner/sandbox/port.ts";
import { type Gate, startGate } from "./gate.ts";
import { sandboxPids } from "./processes.ts";
import { until } from "../support/until.ts";
import { emitted, ended, errorOf, requestFor, type SandboxFixture, type SandboxRequest, startSandbox } from "./sandbox-fixture.ts";

/** Sources of one owner with the same bundle, which share an isolate and not a context (decision 0015). */
let fixture: SandboxFixture;
let gate: Gate;
beforeAll(async () => {
  [fixture, gate] = await Promise.all([startSandbox(), startGate()]);
});
beforeEach(() => gate.close());
afterAll(async () => {
  await fixture.stop();
  gate.stop();
});

/** Sources of an owner of their own. */
interface Siblings {
  readonly owner: string;
  readonly bundle: Bundle;
  run(source: string, event?: unknown, request?: SandboxRequest, onResponse?: () => void): Promise<Execution>;
  /** Begins a run that responds at once, and then waits for the gate. */
  begin(source: string): Promise<{ readonly running: Promise<Execution>; readonly responses: () => number }>;
}

let count = 0;
/** @param body of the component's `run(event)`; `runs` counts the runs of its context, `state` lasts as long as that */
async function siblings(body: string): Promise<Siblings> {
  count += 1;
  const owner = `u_siblings${count}`;
  const bundle = await fixture.bundle(
    `let runs = 0; const state = {}; export default { name: "s${count}", props: { http: "$.interface.http", db: "$.service.db" }, async run(event) { runs++; ${body} } }`,
  );
  const limits = { memoryMb: 64 };
  const run: Siblings["run"] = (source, event = null, request = {}, onResponse) =>
    fixture.sandbox.execute(
      requestFor(bundle, { owner, source: `dc_${count}_${source}`, event: JSON.stringify(event), limits, ...request }),
      onResponse,
    );
  return {
    owner,
    bundle,
    run,
    begin: async (source) => {
      let responses = 0;
      const asked = gate.requests();
      const running = run(source, { waits: gate.url }, {}, () => (responses += 1));
      await until(() => gate.requests() > asked, "the run to begin");
      return { running, responses: () => responses };
    },
  };
}

const isolates = () => fixture.sandbox.stats().isolates;
const sources = () => fixture.sandbox.stats().sources;
const resultOf = (execution: Execution): unknown => (execution.outcome === "returned" ? execution.result : errorOf(execution));
/** Waits in a run that has begun, until the gate opens. */
const slow = `if (event?.waits) { this.http.respond({ status: 200 }); await (await fetch(event.waits)).text(); this.$emit(runs); return runs; }`;

describe("an isolate", () => {
  it("holds up to 64 sources of one owner with the same bundle and memory limit, and none of others", async () => {
    const { bundle, run } = await siblings(`return runs;`);
    const before = isolates();
    expect(before + sources()).toBe(0);
    const each = Array.from({ length: 65 }, (_, index) => `${index}`);
    for (const source of each) expect(resultOf(await run(source))).toBe("1");
    for (const source of each) expect(resultOf(await run(source))).toBe("2");
    await until(() => sources() === 65, "all sources to be warm");
    expect(isolates()).toBe(2);
    const execute = (request: SandboxRequest) => fixture.sandbox.execute(requestFor(bundle, { source: "dc_other", ...request }));
    await execute({ owner: "u_another" });
    await execute({ source: "dc_limit", owner: "u_siblings1", limits: { memoryMb: 65 } });
    await (await siblings(`return 1;`)).run("a");
    await until(() => sources() === 68, "the others to be warm");
    expect(isolates()).toBe(5);
  });

  it("is one of up to eight when many sources start at once, so that they compute in parallel", async () => {
    const { run } = await siblings(`return runs;`);
    const [isolatesBefore, sourcesBefore] = [isolates(), sources()];
    const each = Array.from({ length: 60 }, (_, index) => `${index}`);
    const executions = await Promise.all(each.map((source) => run(source)));
    expect(new Set(executions.map(resultOf))).toEqual(new Set(["1"]));
    await until(() => sources() === sourcesBefore + 60, "all sources to be warm");
    expect(isolates() - isolatesBefore).toBeGreaterThan(1);
    expect(isolates() - isolatesBefore).toBeLessThanOrEqual(8);
  });

  it("is disposed with its last source", async () => {
    const { run } = await siblings(`return runs;`);
    const before = isolates();
    await run("a");
    await run("b");
    await until(() => isolates() === before + 1, "the isolate");
    fixture.sandbox.evict(`dc_${count}_a`);
    expect(resultOf(await run("b"))).toBe("2");
    expect(resultOf(await run("a"))).toBe("1");
    for (const source of ["a", "b"]) fixture.sandbox.evict(`dc_${count}_${source}`);
    await until(() => isolates() === before, "its end");
  });
});

describe("runs of sources that share an isolate", () => {
  it("keep events, logs, db changes, responses, environment and timers apart while they run at once", async () => {
    const { run } = await siblings(`
      const turns = [];
      for (let turn = 0; turn < 20; turn++) {
        await new Promise((end) => setTimeout(end, (event * 7 + turn * 3) % 11));
        console.log(event, turn);
        this.$emit([event, turn]);
        turns.push(turn);
      }
      this.db.set("event", event);
      this.http.respond({ status: 200, body: String(event) });
      return [runs, turns.length, event];`);
    const executions = await Promise.all(Array.from({ length: 12 }, (_, event) => run(`${event}`, event)));
    for (const [event, execution] of executions.entries()) {
      expect(resultOf(execution)).toBe(JSON.stringify([1, 20, event]));
      expect(emitted(execution)).toEqual(Array.from({ length: 20 }, (_, turn) => [event, turn]));
      expect(ended(execution).logs.map(({ msg }) => msg)).toEqual(Array.from({ length: 20 }, (_, turn) => `${event} ${turn}`));
      expect(ended(execution)).toMatchObject({ db: { db: { event: `${event}` } }, response: { body: `${event}` } });
    }
  });

  it("do not block each other while they wait, and are charged only for the CPU time of their own entries", async () => {
    const { run, begin } = await siblings(`${slow} for (let left = event, sum = 0; left > 0; left--) sum ^= left * left; return runs;`);
    // The time in which a thread waits for a core counts as CPU time, and first runs are long: on a busy machine they would dominate.
    gate.open();
    for (const source of ["a", "b", "c"]) await run(source, 0);
    gate.close();
    const waiting = await begin("a");
    const computing = ended(await run("b", 250_000_000));
    const quick = ended(await run("c", 0));
    gate.open();
    expect(computing.cpuMs).toBeGreaterThan(100);
    expect(quick.cpuMs).toBeLessThan(computing.cpuMs / 2);
    expect(ended(await waiting.running).cpuMs).toBeLessThan(computing.cpuMs / 2);
  });

  it("report an unhandled rejection as their own", async () => {
    const { run, begin } = await siblings(
      `${slow} Promise.reject(new RangeError("mine")); await new Promise((end) => setTimeout(end, 20));`,
    );
    const waiting = await begin("a");
    expect(errorOf(await run("b"))).toMatchObject({ outcome: "threw", name: "RangeError", message: "mine" });
    gate.open();
    expect(resultOf(await waiting.running)).toBe("1");
    expect(gate.requests()).toBe(1);
  });
});

describe("a run that ends the isolate it shares", () => {
  // Microtasks and rejections of a terminated entry would be run and reported by the next entry of the isolate.
  const loops = `${slow} if (event === "loop") { Promise.reject(new Error("left")); Promise.resolve().then(() => { for (;;); }); for (;;); } return runs;`;

  it("by a loop alone gets the error: others are repeated, commit once, and it runs apart from then on", async () => {
    const { run, begin } = await siblings(loops);
    const loop = () => run("loop", "loop", { limits: { timeoutMs: 500, memoryMb: 64 } });
    for (const source of ["idle", "a", "loop"]) expect(resultOf(await run(source))).toBe("1");
    const pids = sandboxPids();
    const first = await begin("a");
    expect(errorOf(await loop())).toMatchObject({ outcome: "limited", code: "run_timeout" });
    gate.open();
    expect(emitted(await first.running)).toEqual([1]);
    expect([gate.requests(), first.responses()]).toEqual([2, 1]);
    expect(sandboxPids()).toEqual(pids);
    expect(resultOf(await run("idle"))).toBe("1");
    expect(resultOf(await run("idle"))).toBe("2");

    gate.close();
    const second = await begin("a");
    expect(await loop()).toMatchObject({ outcome: "limited", costProcess: false });
    gate.open();
    expect(resultOf(await second.running)).toBe("1");
    expect(gate.requests()).toBe(1);
    expect(resultOf(await run("idle"))).toBe("3");
  });

  it("while its bundle is evaluated alone gets the error", async () => {
    const owner = "u_load";
    const bundle = await fixture.bundle(
      `if (process.env.PD_COMPONENT === "dc_load_bad") for (;;); let runs = 0; export default { name: "c", async run() { await new Promise((end) => setTimeout(end, 1_500)); return ++runs; } }`,
    );
    const run = (source: string, timeoutMs: number) =>
      fixture.sandbox.execute(
        requestFor(
          { ...bundle, needsNode: true },
          { source, owner, limits: { timeoutMs, memoryMb: 64 }, environment: { PD_COMPONENT: source } },
        ),
      );
    const [good, bad] = await Promise.all([run("dc_load_good", 30_000), run("dc_load_bad", 1_000)]);
    expect(errorOf(bad)).toMatchObject({ outcome: "limited", code: "evaluation_timeout" });
    expect(resultOf(good)).toBe("1");
  });

  it("by filling the heap alone gets the error", async () => {
    const { run, begin } = await siblings(`${slow} const all = []; for (;;) all.push(new Array(100_000).fill(1));`);
    const waiting = await begin("a");
    expect(errorOf(await run("bomb"))).toMatchObject({ outcome: "limited", code: "memory_limit" });
    gate.open();
    expect(emitted(await waiting.running)).toEqual([1]);
  });

  it("because others hold the memory is repeated with a heap to itself, and is not blamed", async () => {
    const { run } = await siblings(
      `if (event === "keep") return (state.kept = new Array(5_000_000).fill(1)).length; return new Array(5_000_000).fill(runs).length;`,
    );
    expect(resultOf(await run("keeper", "keep"))).toBe("5000000");
    const before = sandboxPids();
    expect(resultOf(await run("other"))).toBe("5000000");
    expect(sandboxPids()).toEqual(before);
  });
});

describe("a context", () => {
  it("does not see changes of another context's realm", async () => {
    const { run } = await siblings(`
      if (event === "spoil") {
        globalThis.left = { secret: 1 };
        Object.prototype.polluted = 1;
        Array.prototype.push = () => 0;
        Promise.prototype.then = () => { throw new Error("spoiled"); };
        JSON.parse = JSON.stringify = () => "spoiled";
        Error.prepareStackTrace = () => "spoiled";
        Error.stackTraceLimit = 1;
        Function.prototype.call = () => "spoiled";
        Math.random = Date.now = () => 4;
        console.log = setTimeout = fetch = undefined;
        Symbol.for("shared").description;
        /(spoiled)/.exec("spoiled");
        process.env.LEFT = "1";
        return 0;
      }
      const own = [globalThis.left, {}.polluted, [1].push(2), Math.random() === 4, RegExp.$1, process.env.LEFT, typeof console.log, typeof fetch];
      own.push(new Error("x").stack.split("\\n").length > 1, await Promise.resolve(5), JSON.parse("[6]")[0]);
      // The registry of symbols belongs to the isolate. A symbol has no properties, and registered symbols cannot be listed.
      own.push(Symbol.keyFor(Symbol.for("shared")), Symbol.keyFor(Symbol("shared")));
      return own.map(String);`);
    const spoil = await run("a", "spoil");
    expect(["returned", "threw", "limited"]).toContain(spoil.outcome);
    const expected = [undefined, undefined, 2, false, "", undefined, "function", "function", true, 5, 6, "shared", undefined];
    for (const source of ["b", "c"]) expect(resultOf(await run(source))).toBe(JSON.stringify(expected.map(String)));
  });

  it("gets values of the host with its own prototypes only, and no way to another realm", async () => {
    const { run } = await siblings(`
      const bytes = crypto.getRandomValues(new Uint8Array(4));
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
      const failed = await fetch("http://10.0.0.1/").catch((error) => error);
      const deepest = () => { try { return deepest(); } catch (error) { return error; } };
      let thrown; try { null.x; } catch (error) { thrown = error; }
      const made = [bytes, digest, failed.cause ?? failed, deepest(), thrown, event, this, this.http];
      const isOwn = (value) => {
        for (let at = value; at !== null; at = Object.getPrototypeOf(at)) if (Object.getPrototypeOf(at) === null) return at === Object.prototype;
      };
      const own = made.map(isOwn);
      const realm = made.map((value) => value.constructor.constructor("return globalThis")() === globalThis);
      globalThis.mark = (globalThis.mark ?? 0) + 1;
      return [[...own, ...realm].every((each) => each), typeof gc, typeof WebAssembly, new Function("return this")().mark];`);
    for (const [source, mark] of [
      ["a", 1],
      ["b", 1],
      ["a", 2],
    ] as const)
      expect(resultOf(await run(source, { some: [1] }))).toBe(JSON.stringify([true, "undefined", "undefined", mark]));
  });

  it("returns its memory when evicted, and is unreachable from then on", async () => {
    const { run } = await siblings(`state.kept = new Array(500_000).fill(runs); setInterval(() => this.$emit("late"), 1); return runs;`);
    expect(resultOf(await run("stays"))).toBe("1");
    await until(() => fixture.sandbox.stats().residentBytes > 0, "statistics");
    // 4 MB each, 120 MB together, in a heap of 64 MB.
    for (let index = 0; index < 30; index++) {
      const execution = await run(`${index}`);
      expect(resultOf(execution)).toBe("1");
      expect(emitted(execution)).toEqual([]);
      fixture.sandbox.evict(`dc_${count}_${index}`);
    }
    expect(resultOf(await run("stays"))).toBe("2");
  });
});
