import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SpanTree } from "../../../domain/trace/span-tree.ts";

const span = (id: string, startedAt: number | null = 0) => ({ id, kind: "event", name: id, startedAt, endedAt: null }) as const;

describe("SpanTree", () => {
  it("lists spans depth first, siblings in order of time, hidden ones last", () => {
    const tree = new SpanTree(10);
    for (const [parent, id, at] of [
      [null, "root", 0],
      ["root", "hidden", null],
      ["root", "late", 9],
      ["root", "early", 1],
      ["early", "below", 5],
      ["root", "early too", 1],
    ] as const)
      tree.add(parent, span(id, at));
    expect(tree.list().map(({ id, depth, parent }) => `${depth} ${id} of ${parent ?? ""}`)).toEqual([
      "0 root of ",
      "1 early of root",
      "2 below of early",
      "1 early too of root",
      "1 late of root",
      "1 hidden of root",
    ]);
  });

  it("marks the parent of what has no room", () => {
    const tree = new SpanTree(2);
    expect([tree.add(null, span("root")), tree.add("root", span("a")), tree.add("root", span("b"))]).toEqual([true, true, false]);
    expect(tree.list()).toMatchObject([{ id: "root", hasMore: true }, { id: "a" }]);
    expect(tree.isCut).toBe(true);
  });

  it("has each span once and below one root, whatever parents are claimed", () => {
    const claims = fc.array(fc.tuple(fc.option(fc.integer({ min: 0, max: 8 })), fc.integer({ min: 0, max: 8 })));
    fc.assert(
      fc.property(claims, fc.integer({ min: 1, max: 8 }), (added, limit) => {
        const tree = new SpanTree(limit);
        for (const [parent, id] of added) tree.add(parent === null ? null : String(parent), span(String(id)));
        const listed = tree.list();
        expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
        expect(listed.length).toBeLessThanOrEqual(limit);
        expect(listed.filter(({ parent }) => parent === null)).toHaveLength(Math.min(1, listed.length));
        listed.forEach(({ depth }, index) => expect(depth).toBeLessThanOrEqual((listed[index - 1]?.depth ?? -1) + 1));
      }),
    );
  });
});
