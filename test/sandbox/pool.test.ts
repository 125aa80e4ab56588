import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Execution } from "../../runner/sandbox/port.ts";
import { startGate } from "./gate.ts";
import { answer, begin, killAll, openFixtures } from "./pool-runs.ts";
import { sandboxPids } from "./processes.ts";
import { until } from "../support/until.ts";
import { cacheDirectory, errorOf, patientMs, requestFor, type SandboxFixture, startSandbox } from "./sandbox-fixture.ts";

const start = openFixtures();

describe("a killed child", () => {
  it("is replaced, and its run is repeated in an exclusive child, whose end is the outcome", async () => {
    const fixture = await start();
    const other = () => fixture.run(answer, { owner: "u_other" });
    const { running, begun } = await begin(fixture);
    killAll(sandboxPids());
    await begun();
    expect(await other()).toMatchObject({ outcome: "returned" }); // The shared child is ready again: its death is no failed start.
    killAll(sandboxPids());
    expect(await running).toMatchObject({ outcome: "crashed", message: expect.stringContaining("SIGKILL") as string, costProcess: true });
    expect(await fixture.run(answer)).toMatchObject({ outcome: "returned", result: "42" });
  });
});

describe("the spare child", () => {
  it("is not assigned to an owner after it died", async () => {
    const lost = Promise.withResolvers<void>();
    const fixture = await start({ ownerProcesses: 1, logger: { warn: () => lost.resolve() } });
    killAll(sandboxPids());
    await lost.promise;
    expect(await fixture.run(answer)).toMatchObject({ outcome: "returned", result: "42" });
  });
});

describe("a shared child", () => {
  let fixture: SandboxFixture;
  beforeAll(async () => {
    fixture = await startSandbox();
  });
  afterAll(() => fixture.stop());

  it("is not that of a run alone, whose exclusive child ends when it is idle", async () => {
    const before = sandboxPids();
    expect(await fixture.run(answer, { alone: true })).toMatchObject({ outcome: "returned", result: "42" });
    await until(() => sandboxPids().every((pid) => before.includes(pid)), "the end of the exclusive child");
    expect(sandboxPids()).toEqual(before);
  });

  it("gets the memory of an idle isolate back, keeps it warm, and hides the collector from user code", async () => {
    const bundle = await fixture.bundle(
      `let runs = 0; export default { name: "c", async run(url) {
        const all = Array.from({ length: 300 }, (_, at) => new Array(16_384).fill(at));
        await (await fetch(url)).text(); // Held until its memory has been measured.
        return [++runs, all.length, typeof gc, typeof globalThis.gc, (0, eval)("typeof gc")];
      } }`,
    );
    const gate = await startGate();
    onTestFinished(() => gate.stop());
    const run = (): Promise<Execution> => fixture.sandbox.execute(requestFor(bundle, { event: JSON.stringify(gate.url) }));
    const left = [300, "undefined", "undefined", "undefined"];
    const resident = () => fixture.sandbox.stats().residentBytes;
    await until(() => resident() > 0, "statistics");
    const before = resident();
    const first = run();
    await until(() => resident() > before + 30 * 2 ** 20, "its memory to be measured");
    const held = resident();
    gate.open();
    expect(await first).toMatchObject({ outcome: "returned", result: JSON.stringify([1, ...left]) });
    await until(() => resident() < held - 20 * 2 ** 20, "20 of 40 MB to come back");
    expect(await run()).toMatchObject({ outcome: "returned", result: JSON.stringify([2, ...left]) });
  });

  it("can read code and bundles and nothing else, and has nothing of our environment", async () => {
    const [pid] = sandboxPids();
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    expect(command).toContain("--permission");
    expect(command.filter((argument) => /allow-(?:child|worker|fs-write|wasi)/.test(argument))).toEqual([]);
    expect(
      readFileSync(`/proc/${pid}/environ`, "utf8")
        .split("\0")
        .filter((entry) => entry !== "" && !entry.startsWith("NODE_CHANNEL_")),
    ).toEqual(["UV_THREADPOOL_SIZE=12"]);
    const outside = { hash: "x", path: "/etc/hostname", needsNode: false };
    expect(await fixture.sandbox.inspect({ bundle: outside, timeoutMs: patientMs })).toMatchObject({
      outcome: "rejected",
      message: expect.stringContaining("restricted") as string,
    });
  });
});

describe("a suspect, whose run filled its memory", () => {
  const bomb = `export default { name: "b", run() { const all = []; for (;;) all.push(new Array(100_000).fill(1)); } }`;
  const counter = `let runs = 0; export default { name: "c", run: () => ++runs }`;
  const limits = { memoryMb: 32 };
  const memoryLimit = { outcome: "limited", code: "memory_limit" };

  it("has an exclusive child of low priority from then on, whichever of its sources runs", async () => {
    const lost = Promise.withResolvers<void>();
    const fixture = await start({ logger: { warn: () => lost.resolve() } });
    const count = () => fixture.run(counter, { source: "dc_warm", owner: "u_neighbour" });
    const explode = () => fixture.run(bomb, { owner: "u_hostile", limits });
    const [shared] = sandboxPids();
    await count();
    expect(errorOf(await explode())).toMatchObject(memoryLimit);
    for (const runs of ["2", "3"]) {
      expect(errorOf(await explode())).toMatchObject(memoryLimit);
      expect(await count()).toMatchObject({ result: runs });
    }
    const [exclusive = 0, ...others] = sandboxPids().filter((pid) => pid !== shared);
    expect(others).toEqual([]);
    // All of its threads, also those of isolates, which are otherwise five steps below their process.
    await until(
      () => readdirSync(`/proc/${exclusive}/task`).every((thread) => getPriority(Number(thread)) === getPriority() + 10),
      "low priority",
    );
    process.kill(exclusive, "SIGKILL");
    await lost.promise;
    expect(await fixture.run(answer, { owner: "u_hostile" })).toMatchObject({ outcome: "returned", result: "42" });
    expect(await count()).toMatchObject({ result: "4" });
  });
});

describe("stop", () => {
  it("lets runs end, kills the children and refuses what comes later", async () => {
    const fixture = await start({ children: 2 });
    const bundle = await fixture.bundle(`export default { name: "c", run: () => new Promise((r) => setTimeout(() => r(1), 200)) }`);
    expect(sandboxPids()).toHaveLength(2);
    const running = fixture.sandbox.execute(requestFor(bundle));
    const stopped = fixture.sandbox.stop(AbortSignal.timeout(patientMs));
    expect(await running).toMatchObject({ outcome: "returned" });
    await stopped;
    await expect(fixture.run(answer)).rejects.toMatchObject({ code: "sandbox_stopped" });
    await until(() => sandboxPids().length === 0, "the end of the children");
  });
});

describe("children", () => {
  it("die with a parent that is killed", async () => {
    const script = `
      import { createSandbox } from ${JSON.stringify(join(import.meta.dirname, "../../runner/sandbox/pool.ts"))};
      await createSandbox({ cacheDirectory: process.argv[2], bundleDirectory: process.argv[1], children: 2, egress: { allow: [], resolve: async () => [] } });
      console.log("ready");`;
    const bundles = await mkdtemp(join(tmpdir(), "headwater-bundles-"));
    onTestFinished(() => rm(bundles, { recursive: true }));
    const parent = spawn(process.execPath, ["--no-node-snapshot", "--input-type=module", "-e", script, bundles, cacheDirectory], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((resolve) => parent.stdout.once("data", resolve));
    const pids = sandboxPids(parent.pid);
    expect(pids).toHaveLength(2);
    parent.kill("SIGKILL");
    await until(() => pids.every((pid) => !existsSync(`/proc/${pid}`)), "the end of the children");
  });
});
