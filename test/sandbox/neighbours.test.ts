import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Bundle, Execution } from "../../runner/sandbox/port.ts";
import { sandboxPids } from "./processes.ts";
import { until } from "../support/until.ts";
import { requestFor, type SandboxFixture, startSandbox } from "./sandbox-fixture.ts";

const waits = `export default { name: "c", run: () => new Promise((end) => setTimeout(end, 60_000)) }`;
const limits = { memoryMb: 64 };
const burners = 24;

describe("an owner whose runs compute without end", () => {
  let fixture: SandboxFixture;
  let [quiet, endless]: Bundle[] = [];
  beforeAll(async () => {
    fixture = await startSandbox({ children: 1 });
    quiet = await fixture.bundle(`export default { name: "c", run: () => 42 }`);
    endless = await fixture.bundle(`export default { name: "c", run() { for (;;); } }`);
  });
  afterAll(() => fixture.stop());

  /** With a place for each of them, a neighbour would wait for the end of two dozen loops of five seconds on a core or two. */
  it("leaves permits to other owners, whose runs end long before its own", async () => {
    if (quiet === undefined || endless === undefined) throw new Error("no bundles");
    const [mine, theirs] = [quiet, endless];
    let ended = 0;
    const burning = Array.from({ length: burners }, (_, n) =>
      fixture.sandbox.execute(requestFor(theirs, { source: `dc_burn${n}`, owner: "u_burner", limits })).then(() => ended++),
    );
    for (let n = 0; n < 10; n++) {
      const execution = await fixture.sandbox.execute(requestFor(mine, { source: "dc_quiet", owner: "u_quiet", limits }));
      expect(execution).toMatchObject({ outcome: "returned", result: "42" });
    }
    expect(ended).toBeLessThan(burners / 2);
    void Promise.allSettled(burning); // They end with the sandbox.
  });

  it("are distinguished from waiting runs, which are reported as such; a run that ends at once is not reported", async () => {
    if (quiet === undefined || endless === undefined) throw new Error("no bundles");
    const paused: string[] = [];
    const run = (source: string, owner: string, bundle: Bundle): Promise<Execution> =>
      fixture.sandbox.execute(requestFor(bundle, { source, owner, limits }), undefined, () => paused.push(source));
    const [loop, mine] = [endless, quiet];
    // One computes while the other waits for its place.
    const burning = ["dc_b1", "dc_b2"].map((source) => run(source, "u_b", loop));
    const slow = await fixture.bundle(waits);
    const waiting = ["dc_w1", "dc_w2"].map((source) => run(source, "u_w", slow));
    await run("dc_quiet", "u_quiet", mine);
    await until(() => paused.length >= 2, "waiting runs to be reported");
    expect(paused.toSorted()).toEqual(["dc_w1", "dc_w2"]);
    void Promise.allSettled([...burning, ...waiting]); // They end with the sandbox.
  });
});

/** A thread has a priority of its own on Linux alone, where the sandbox is tested. */
it("runs isolates in threads of low priority", async () => {
  const before = sandboxPids();
  const fixture = await startSandbox();
  try {
    const [pid = 0] = sandboxPids().filter((each) => !before.includes(each));
    await fixture.run(`export default { name: "c", run: () => 42 }`);
    const nice = (): number[] => readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)) - getPriority(pid));
    await until(() => {
      const steps = nice();
      return steps.length > 1 && steps.filter((each) => each === 5).length === steps.length - 1;
    }, "all threads but one to be of a lower priority");
  } finally {
    await fixture.stop();
  }
});

describe("an owner with more waiting runs than a child executes at once", () => {
  it("leaves executions to an owner that arrives later", async () => {
    const fixture = await startSandbox({ children: 1 });
    try {
      const slow = await fixture.bundle(waits);
      let begun = 0;
      let ended = 0;
      const waiting = Array.from({ length: 210 }, (_, n) =>
        fixture.sandbox
          .execute(requestFor(slow, { source: `dc_slow${n}`, owner: "u_slow", limits }), undefined, () => (begun += 1))
          .then(() => (ended += 1)),
      );
      await until(() => begun >= 150, "as many runs to wait as an owner may execute");
      const quick = { source: "dc_quick", owner: "u_quick" };
      expect(await fixture.run(`export default { name: "c", run: () => 42 }`, quick)).toMatchObject({ outcome: "returned", result: "42" });
      expect([begun, ended]).toEqual([150, 0]);
      void Promise.allSettled(waiting); // They end with the sandbox.
    } finally {
      await fixture.stop();
    }
  });
});
