import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Backlog, type BacklogEntry } from "../../../runner/schedule/backlog.ts";

const limits = { sourceInvocations: 8, sourceBytes: 1_000, ownerInvocations: 16, ownerBytes: 4_000, totalBytes: 8_000 };
const of = (source: string, bytes = 1, owner = "u_1"): BacklogEntry => ({ source, owner, bytes });

function backlogOf(changed: Partial<typeof limits> = {}) {
  let changes = 0;
  const backlog = new Backlog({ ...limits, ...changed });
  backlog.subscribe(() => changes++);
  const add = (entry: BacklogEntry, times: number): void => {
    for (let n = 0; n < times; n++) backlog.add(entry);
  };
  const remove = (entry: BacklogEntry, times: number): void => {
    for (let n = 0; n < times; n++) backlog.remove(entry);
  };
  return { backlog, add, remove, changes: () => changes, full: () => [backlog.report([]).sources, backlog.report([]).owners] };
}

describe("Backlog", () => {
  it("reports a full source until an eighth of its limit has run", () => {
    const { add, remove, full, changes } = backlogOf();
    add(of("dc_1"), 7);
    expect([full(), changes()]).toEqual([[[], []], 0]);
    add(of("dc_1"), 1);
    expect([full(), changes()]).toEqual([[["dc_1"], []], 1]);
    remove(of("dc_1"), 1);
    expect(full()).toEqual([["dc_1"], []]);
    remove(of("dc_1"), 1);
    expect([full(), changes()]).toEqual([[[], []], 2]);
  });

  it("reports an owner whose sources together reach the owner's limit, and a source that reaches its limit of bytes", () => {
    const { add, full } = backlogOf();
    for (const source of ["dc_1", "dc_2", "dc_3", "dc_4"]) add(of(source), 4);
    expect(full()).toEqual([[], ["u_1"]]);
    add(of("dc_5", 1_000, "u_2"), 1);
    expect(full()).toEqual([["dc_5"], ["u_1"]]);
  });

  it("lets an owner hold as many bytes as are still free: one flood leaves half of the memory, two leave a third", () => {
    const { backlog, add, full } = backlogOf({
      sourceBytes: 10_000,
      ownerBytes: 10_000,
      ownerInvocations: 10_000,
      sourceInvocations: 10_000,
    });
    const fill = (owner: string): number => {
      for (let bytes = 0; ; bytes += 10) {
        if (backlog.report([]).owners.includes(owner)) return bytes;
        add(of(`dc_${owner}`, 10, owner), 1);
      }
    };
    expect(fill("u_1")).toBe(4_000);
    expect(fill("u_2")).toBe(2_000);
    expect(full()[1]).toEqual(["u_1", "u_2"]);
    add(of("dc_small", 10, "u_3"), 1);
    expect(full()[1]).not.toContain("u_3");
  });

  it("has no room while all memory is used, and notifies its subscriber when there is room again", () => {
    const { backlog, add, remove, changes } = backlogOf();
    for (const n of [1, 2, 3, 4, 5, 6, 7, 8]) add(of(`dc_${n}`, 1_000, `u_${n}`), 1);
    expect(backlog.hasRoom).toBe(false);
    const before = changes();
    remove(of("dc_1", 1_000, "u_1"), 1);
    expect([backlog.hasRoom, changes() > before]).toEqual([true, true]);
  });

  it("reports no partitions while not all full sources fit into one report", () => {
    const { backlog, add } = backlogOf({ sourceInvocations: 1, ownerInvocations: 1_000_000 });
    add(of("dc_1"), 1);
    expect(backlog.report([3])).toMatchObject({ partitions: [3], sources: ["dc_1"] });
    for (let n = 0; n < 1_000; n++) add(of(`dc_n${n}`), 1);
    expect([backlog.report([3]).partitions, backlog.report([3]).sources.length]).toEqual([[], 1_000]);
  });

  /** Method: random additions, each removed again in random order. */
  it("reports nothing once everything has run", () => {
    const queued = fc.record({
      source: fc.constantFrom("dc_1", "dc_2", "dc_3"),
      owner: fc.constant("u_1"),
      bytes: fc.integer({ min: 1, max: 900 }),
    });
    fc.assert(
      fc.property(
        fc.array(queued, { maxLength: 60 }).chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => {
          const { backlog, full } = backlogOf();
          for (const each of all) backlog.add(each);
          for (const each of shuffled) backlog.remove(each);
          expect([full(), backlog.hasRoom, backlog.fullSources, backlog.fullOwners]).toEqual([[[], []], true, 0, 0]);
        },
      ),
    );
  });
});
