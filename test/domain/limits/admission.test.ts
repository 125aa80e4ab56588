import { expect, describe, it } from "vitest";
import { AdmissionGate, defaultBacklogLimits } from "../../../domain/limits/admission.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";

const work = { pool: "default", source: "dc_1", owner: "u_1" };
const sibling = { ...work, source: "dc_2" };
const other = { pool: "default", source: "dc_3", owner: "u_2" };
const nothing = { partitions: [], sources: [], owners: [] };

const gateOf = (limits: Partial<typeof defaultBacklogLimits> = {}) => new AdmissionGate({ ...defaultBacklogLimits, ...limits });
const admitted = (gate: AdmissionGate, times: number, admission = work, bytes = 1): number =>
  Array.from({ length: times }, () => gate.admits(admission, bytes, 0)).filter(Boolean).length;

describe("AdmissionGate", () => {
  it("admits invocations up to the source's and the owner's bound while no runner reports", () => {
    const gate = gateOf({ sourceInvocations: 3, ownerInvocations: 5 });
    expect([admitted(gate, 9), admitted(gate, 9, sibling), admitted(gate, 9, other)]).toEqual([3, 2, 3]);
  });

  it("bounds bytes as well", () => {
    const gate = gateOf({ sourceBytes: 100, ownerBytes: 250 });
    expect([admitted(gate, 9, work, 60), admitted(gate, 9, sibling, 60)]).toEqual([2, 2]);
    expect(admitted(gate, 9, { ...work, source: "dc_9" }, 60)).toBe(1);
  });

  it("counts from zero again once any runner reports that it has read the partition", () => {
    const gate = gateOf({ sourceInvocations: 3 });
    admitted(gate, 3);
    gate.update("default", "r_1", { ...nothing, partitions: [(partitionOf("dc_1") + 1) % 16] }, 0);
    expect(gate.isFull(work, 0)).toBe(true);
    gate.update("default", "r_2", { ...nothing, partitions: [partitionOf("dc_1")] }, 0);
    expect(admitted(gate, 9)).toBe(3);
  });

  it("refuses reported sources and all sources of reported owners until the next report or until the runner ends", () => {
    const gate = gateOf();
    gate.update("default", "r_1", { ...nothing, sources: ["dc_1"] }, 0);
    expect([work, sibling, other].map((each) => gate.isFull(each, 0))).toEqual([true, false, false]);
    gate.update("default", "r_1", { ...nothing, owners: ["u_1"] }, 0);
    expect([work, sibling, other].map((each) => gate.isFull(each, 0))).toEqual([true, true, false]);
    gate.update("default", "r_1", undefined, 0);
    expect(gate.isFull(work, 0)).toBe(false);
  });

  it("ignores reports about sources of other pools, and those of a runner that has been silent for more than five seconds", () => {
    const gate = gateOf();
    gate.update("theirs", "r_1", { ...nothing, sources: ["dc_1"], owners: ["u_1"] }, 0);
    expect(gate.isFull(work, 0)).toBe(false);
    gate.update("default", "r_2", { ...nothing, sources: ["dc_1"] }, 0);
    expect([gate.isFull(work, 5_000), gate.isFull(work, 5_001)]).toEqual([true, false]);
  });
});
