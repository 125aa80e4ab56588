import { describe, expect, it } from "vitest";
import { sandboxPids } from "../processes.ts";
import { until } from "../../support/until.ts";
import { patientMs } from "../sandbox-fixture.ts";
import { openOwnerRuns } from "./owner-runs.ts";

/** What an owner does to their process no other owner feels. */
const owners = openOwnerRuns();
const { ran, counts } = owners;
const killer = `export default { name: "k", run() { const a = []; a.length = 2 ** 32 - 1; a.fill(0); } }`;

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
    expect(await counts([ran("u_c", "dc_c")])).toEqual(["1"]); // In the slot of u_b.
    expect(await counts([ran("u_b", "dc_b")])).toEqual(["1"]); // In that of u_a.
    await until(() => sandboxPids().filter((pid) => before.includes(pid)).length <= 1, "the end of their processes");
  });

  it("also inspects components", async () => {
    const inspected = await Promise.all(
      ["a", "b"].map(async (name) =>
        owners.fixture.sandbox.inspect({
          bundle: await owners.fixture.bundle(`export default { name: "${name}", run() {} }`),
          timeoutMs: patientMs,
        }),
      ),
    );
    expect(inspected.map((one) => one.outcome === "read" && one.definition.name)).toEqual(["a", "b"]);
  });
});
