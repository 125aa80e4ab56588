import { describe, expect, it } from "vitest";
import { childrenWithin } from "../../platform/process/settings/sandbox-size.ts";

const gibibyte = 2 ** 30;

describe("the number of a runner's sandbox processes", () => {
  it.each([
    ["one per core where nothing limits it", undefined, 8, 8],
    ["at least one, however small the container", 1 * gibibyte, 8, 1],
    ["one in a runner pod of the default size", 3 * gibibyte, 8, 1],
    ["as many as could all be hostile at once", 9 * gibibyte, 8, 4],
    ["no more than cores", 64 * gibibyte, 2, 2],
  ])("%s", (_, limitBytes, cores, children) => {
    expect(childrenWithin(limitBytes, cores)).toBe(children);
  });
});
