import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Execution } from "../../../runner/sandbox/port.ts";
import { sandboxPids, until } from "../processes.ts";
import { ended, errorOf, patientMs, requestFor, type SandboxFixture, startSandbox } from "../sandbox-fixture.ts";

/** Owners whose runs have processes of their own: what one does to his process no other feels. */
let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await startSandbox({ ownerProcesses: 2, timeLimits: { entryMs: 500, disposeMs: 250 } });
});
afterAll(() => fixture.stop());

const code = `let n = 0; export default { name: "o", async run(event) { n++; await new Promise((ok) => setTimeout(ok, event ?? 0)); return n; } }`;
const killer = `export default { name: "k", run() { const a = []; a.length = 2 ** 32 - 1; a.fill(0); } }`;
const ran = async (owner: string, source: string, event = "0", text = code): Promise<Execution> => {
  const request = { owner, source, event, limits: { memoryMb: 64 } };
  return fixture.sandbox.execute(requestFor(await fixture.bundle(text), request));
};
const counts = async (runs: readonly Promise<Execution>[]): Promise<unknown[]> =>
  (await Promise.all(runs)).map((run) => (run.outcome === "returned" ? run.result : errorOf(run)));

describe("a process for each owner", () => {
  it("keeps one owner's sources together and warm, and those of two owners apart", async () => {
    expect(await counts([ran("u_a", "dc_a1"), ran("u_a", "dc_a2"), ran("u_b", "dc_b")])).toEqual(["1", "1", "1"]);
    expect(await counts([ran("u_a", "dc_a1"), ran("u_b", "dc_b")])).toEqual(["2", "2"]);
    await until(() => sandboxPids().length === 3, "two processes of owners, and one that is ready");
  });

  it("is the most that a hostile owner can kill: a neighbour's run goes on, and stays warm", async () => {
    const neighbour = ran("u_b", "dc_b", "3000");
    const hostile = await ran("u_a", "dc_k", "0", killer);
    expect(hostile).toMatchObject({ outcome: "limited", costProcess: true });
    expect(await neighbour).toMatchObject({ outcome: "returned", result: "3" });
    expect(await ran("u_b", "dc_b")).toMatchObject({ outcome: "returned", result: "4" });
    expect(await ran("u_a", "dc_a1")).toMatchObject({ outcome: "returned", result: "1" });
  });

  it("is ended, never reused, when another owner needs its slot", async () => {
    const before = sandboxPids();
    expect(await counts([ran("u_c", "dc_c"), ran("u_d", "dc_d")])).toEqual(["1", "1"]);
    expect(await counts([ran("u_a", "dc_a1"), ran("u_b", "dc_b")])).toEqual(["1", "1"]);
    await until(() => sandboxPids().filter((pid) => before.includes(pid)).length <= 1, "the end of their processes");
  });

  it("is started in turn for more owners than there are slots", async () => {
    const runs = Array.from({ length: 10 }, (_, index) => ran(`u_many${index % 5}`, `dc_many${index}`, "50"));
    expect(await counts(runs)).toEqual(Array.from({ length: 10 }, () => "1"));
    expect(sandboxPids().length).toBeLessThanOrEqual(6);
  });

  it("is not kept by an owner with endless runs", async () => {
    let stop = false;
    const busy = async (owner: string): Promise<void> => {
      for (let run = 0; !stop; run++) await ran(owner, `dc_${owner}${run % 3}`, "20");
    };
    const flood = ["u_f1", "u_f1", "u_f1", "u_f2", "u_f2", "u_f2"].map(busy);
    await ran("u_f1", "dc_first");
    const patient = await ran("u_patient", "dc_patient");
    stop = true;
    await Promise.all(flood);
    expect(ended(patient)).toMatchObject({ outcome: "returned", result: "1" });
  });

  it("also inspects components", async () => {
    const inspected = await Promise.all(
      ["a", "b"].map(async (name) =>
        fixture.sandbox.inspect({ bundle: await fixture.bundle(`export default { name: "${name}", run() {} }`), timeoutMs: patientMs }),
      ),
    );
    expect(inspected.map((one) => one.outcome === "read" && one.definition.name)).toEqual(["a", "b"]);
  });
});
