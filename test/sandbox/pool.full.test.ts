import { describe, expect, it } from "vitest";
import type { Execution } from "../../runner/sandbox/port.ts";
import { answer, begin, endless, killAll, openFixtures } from "./pool-runs.ts";
import { sandboxPids } from "./processes.ts";
import { until } from "../support/until.ts";
import { errorOf, requestFor } from "./sandbox-fixture.ts";

const start = openFixtures();

describe("a killed child", () => {
  it("repeats an owner's runs one at a time, so that the run that crashes again is identified", async () => {
    const fixture = await start();
    const limits = { memoryMb: 128 };
    const first = await begin(fixture, { source: "dc_1", limits });
    const second = await begin(fixture, { source: "dc_2", limits });
    killAll(sandboxPids());
    for (const { running, begun } of [first, second]) {
      await begun();
      expect(await fixture.run(answer, { owner: "u_other" })).toMatchObject({ outcome: "returned" });
      killAll(sandboxPids());
      expect(await running).toMatchObject({ outcome: "crashed", costProcess: true });
    }
  });

  it("ends a run that was alone in it, without a second attempt", async () => {
    const fixture = await start();
    const before = sandboxPids();
    const { running } = await begin(fixture, { alone: true });
    killAll(sandboxPids().filter((pid) => !before.includes(pid)));
    expect(await running).toMatchObject({ outcome: "crashed", costProcess: true });
  });
});

describe("memory", () => {
  it("suffices for a burst of more sources than fit: the rest wait", async () => {
    const fixture = await start({ residentLimitMb: 1_300 });
    const bundle = await fixture.bundle(answer);
    const burst = Array.from({ length: 450 }, (_, index) =>
      fixture.sandbox.execute(requestFor(bundle, { source: `dc_burst${index}`, limits: { memoryMb: 128 } })),
    );
    const outcomes = (await Promise.all(burst)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome !== "returned")).toEqual([]);
  });

  it("of warm isolates stays within the budget, and most stay warm when a few more sources take turns than fit", async () => {
    const fixture = await start({ memoryBudgetMb: 32 });
    // Of an isolate's 2.4 MB and more, thirteen fit.
    const [sources, turns] = [16, 5];
    // A bundle each, so that no two sources share an isolate.
    const bundles = await Promise.all(
      Array.from({ length: sources }, (_, index) =>
        fixture.bundle(`let runs = 0; export default { name: "c${index}", run: () => ++runs }`),
      ),
    );
    const run = (index: number): Promise<Execution> =>
      fixture.sandbox.execute(requestFor(bundles[index] ?? expect.unreachable("no such bundle"), { source: `dc_${index}` }));
    let warm = 0;
    for (let turn = 0; turn < turns; turn++) {
      for (let index = 0; index < sources; index++) {
        const execution = await run(index);
        if (execution.outcome === "returned" && execution.result !== "1") warm++;
      }
    }
    await until(() => fixture.sandbox.stats().isolates > 0 && fixture.sandbox.stats().evictions > 0, "statistics");
    expect(fixture.sandbox.stats().isolates).toBeLessThan(sources);
    expect(warm).toBeGreaterThan((sources * (turns - 1)) / 4);
  });
});

describe("a suspect, whose run filled its memory", () => {
  const bomb = `export default { name: "b", run() { const all = []; for (;;) all.push(new Array(100_000).fill(1)); } }`;
  const limits = { memoryMb: 32 };
  const memoryLimit = { outcome: "limited", code: "memory_limit" };

  it("shares its child with no other suspect", async () => {
    const fixture = await start();
    const [shared] = sandboxPids();
    for (const owner of ["u_1", "u_2"]) expect(errorOf(await fixture.run(bomb, { owner, limits }))).toMatchObject(memoryLimit);
    const runs = await Promise.all(["u_1", "u_2"].map((owner) => begin(fixture, { source: `dc_${owner}`, owner })));
    const exclusive = sandboxPids().filter((pid) => pid !== shared);
    expect(exclusive).toHaveLength(2);
    void Promise.allSettled(runs.map(({ running }) => running)); // They end with the sandbox.
  });
});

describe("stop", () => {
  it("does not wait longer than the signal", async () => {
    const fixture = await start();
    const running = fixture.sandbox.execute(requestFor(await fixture.bundle(endless)));
    const ended = Promise.allSettled([running]);
    await fixture.sandbox.stop(AbortSignal.timeout(50));
    expect(await ended).toMatchObject([{ status: "rejected", reason: { code: "sandbox_stopped" } }]);
  });

  it("neither starts runs that wait for an exclusive child nor blames the run in one", async () => {
    const fixture = await start();
    const bundle = await fixture.bundle(endless);
    const responded = Promise.withResolvers<unknown>();
    const request = requestFor(bundle, { alone: true, limits: { memoryMb: 128 } });
    const running = fixture.sandbox.execute(request, responded.resolve);
    const waiting = fixture.sandbox.execute(request);
    await responded.promise;
    const ended = Promise.allSettled([running, waiting]);
    await fixture.sandbox.stop(AbortSignal.abort());
    const stopped = { status: "rejected", reason: { code: "sandbox_stopped" } };
    expect(await ended).toMatchObject([stopped, stopped]);
  });
});
