import { describe, expect, it } from "vitest";
import { OwnerPools } from "../../../operator/runner-pool/owner-pools.ts";
import { poolOf } from "./pools.ts";

const older = poolOf("older", { owner: "u_a" }, { creationTimestamp: "2026-11-20T10:00:00Z" });
const newer = poolOf("newer", { owner: "u_a" });

function world() {
  const pools = new OwnerPools();
  const moved: string[] = [];
  pools.onMove((owner) => moved.push(`${owner} → ${pools.poolOf(owner)}`));
  return { pools, moved };
}

describe("the pool of an owner", () => {
  it("is the owner's own pool, else the default one", () => {
    const { pools } = world();
    pools.see(older, false);
    expect([pools.poolOf("u_a"), pools.poolOf("u_b")]).toEqual(["older", "default"]);
  });

  it("is not a pool without our finalizer, which could vanish with sources in it", () => {
    const { pools } = world();
    pools.see(poolOf("own", { owner: "u_a" }, { finalizers: [] }), false);
    expect(pools.poolOf("u_a")).toBe("default");
  });

  it("is the older of two pools, in whatever order they were seen", () => {
    for (const order of [
      [older, newer],
      [newer, older],
    ]) {
      const { pools } = world();
      for (const pool of order) pools.see(pool, false);
      expect([pools.poolOf("u_a"), pools.rivalOf(newer), pools.rivalOf(older)]).toEqual(["older", "older", undefined]);
    }
  });

  it("changes when a pool is created, in deletion or gone, and not with other changes of a pool", () => {
    const { pools, moved } = world();
    pools.see(older, false);
    pools.see({ ...older, status: { backlog: 3 } }, false);
    pools.see(newer, false);
    const going = { ...older, metadata: { ...older.metadata, deletionTimestamp: "2026-11-21T11:00:00Z" } };
    pools.see(going, false);
    pools.see(going, true);
    pools.see(newer, true);
    expect(moved).toEqual(["u_a → older", "u_a → newer", "u_a → default"]);
  });

  it("lists the other pools of the owner that can replace a pool", () => {
    const { pools } = world();
    pools.see(older, false);
    pools.see(newer, false);
    expect(pools.othersOf(older)).toEqual(["newer"]);
  });
});
