import { describe, expect, it } from "vitest";
import type { Span } from "../../client/generated/operations.ts";
import { moveOf, shownSpans } from "../../console/pages/trace/tree-keys.ts";

const span = (id: string, depth: number, parent_id: string | null): Span => ({
  id,
  parent_id,
  depth,
  kind: "event",
  name: id,
  started_at_ms: 0,
  ended_at_ms: 0,
});
/** a > (b > c, d), with d last. */
const spans = [span("a", 0, null), span("b", 1, "a"), span("c", 2, "b"), span("d", 1, "a")];
const press = (key: string, selected: string, closed: readonly string[] = []) => moveOf(key, { spans, closed: new Set(closed), selected });

describe("keys of the tree", () => {
  it.each([
    ["ArrowDown", "a", [], { kind: "select", id: "b" }],
    ["ArrowDown", "b", ["b"], { kind: "select", id: "d" }],
    ["ArrowDown", "d", [], undefined],
    ["ArrowUp", "d", [], { kind: "select", id: "c" }],
    ["ArrowUp", "d", ["b"], { kind: "select", id: "b" }],
    ["ArrowRight", "b", ["b"], { kind: "open", id: "b" }],
    ["ArrowRight", "b", [], { kind: "select", id: "c" }],
    ["ArrowRight", "c", [], undefined],
    ["ArrowLeft", "b", [], { kind: "close", id: "b" }],
    ["ArrowLeft", "b", ["b"], { kind: "select", id: "a" }],
    ["ArrowLeft", "c", [], { kind: "select", id: "b" }],
    ["ArrowLeft", "a", ["a"], undefined],
    ["Home", "d", [], { kind: "select", id: "a" }],
    ["End", "a", [], { kind: "select", id: "d" }],
    ["Enter", "a", [], undefined],
    // It was closed above, or is gone after a refresh.
    ["ArrowDown", "c", ["a"], { kind: "select", id: "a" }],
  ] as const)("%s on %s with %j closed is %j", (key, selected, closed, move) => expect(press(key, selected, closed)).toEqual(move));

  it("shows what is not below a closed span", () => {
    expect(shownSpans(spans, new Set(["b", "c"])).map(({ id }) => id)).toEqual(["a", "b", "d"]);
    expect(shownSpans(spans, new Set(["a", "b"])).map(({ id }) => id)).toEqual(["a"]);
  });
});
