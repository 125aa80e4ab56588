import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  idOfResourceName,
  idPrefixes,
  isId,
  kindOfId,
  namespaceOfOwner,
  newId,
  ownerOfNamespace,
  resourceNameOf,
  type IdKind,
} from "../../domain/ids.ts";

const kinds = Object.keys(idPrefixes) as IdKind[];
const anyKind = fc.constantFrom(...kinds);
/** Deterministic bytes from a seed: an xorshift generator is random enough for a distribution. */
function bytesFrom(seed: number): (count: number) => Uint8Array {
  let state = seed | 1;
  return (count) =>
    Uint8Array.from({ length: count }, () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return (state >>> 8) & 255;
    });
}
const anyId = fc.tuple(anyKind, fc.stringMatching(/^[0-9a-z]{1,57}$/)).map(([kind, rest]) => `${idPrefixes[kind]}_${rest}`);

describe("ids", () => {
  test("a new id is its prefix and 12 characters, and is of its kind", () => {
    fc.assert(
      fc.property(anyKind, fc.integer(), (kind, seed) => {
        const id = newId(kind, bytesFrom(seed));
        expect(id).toMatch(new RegExp(`^${idPrefixes[kind]}_[0-9a-z]{12}$`));
        expect(kindOfId(id)).toBe(kind);
        expect(kinds.filter((other) => isId(other, id))).toEqual([kind]);
      }),
    );
  });

  test("every character is equally likely", () => {
    const random = bytesFrom(42);
    const counts = new Map<string, number>();
    for (let i = 0; i < 6000; i++) for (const c of newId("source", random).slice(3)) counts.set(c, (counts.get(c) ?? 0) + 1);
    expect(counts.size).toBe(36);
    // 72,000 characters, 2,000 each, standard deviation 44.
    for (const count of counts.values()) expect(Math.abs(count - 2000)).toBeLessThan(5 * 44);
  });

  test("ids and the names of their resources are one to one", () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const name = resourceNameOf(id);
        expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
        expect(idOfResourceName(name)).toBe(id);
      }),
    );
    expect(idOfResourceName("my-source")).toBeUndefined();
    expect(idOfResourceName("dc_x")).toBeUndefined();
    expect(idOfResourceName("dc-x-y")).toBeUndefined();
  });

  test("only users and organizations have a namespace, and it leads back to them", () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const isOwner = id.startsWith("u_") || id.startsWith("o_");
        if (isOwner) expect(ownerOfNamespace(namespaceOfOwner(id))).toBe(id);
        else expect(() => namespaceOfOwner(id)).toThrow("must be the id of a user");
      }),
    );
    expect(namespaceOfOwner("u_demo")).toBe("hw-u-demo");
    expect(ownerOfNamespace("kube-system")).toBeUndefined();
    expect(ownerOfNamespace("hw-dc-x")).toBeUndefined();
  });

  test.each(["", "dc_", "dc_UPPER", "dc-x", "xx_1", "__proto___x", "dc_a/b", "dc_*"])("%j is no id", (text) => {
    expect(kindOfId(text)).toBeUndefined();
    expect(() => resourceNameOf(text)).toThrow();
  });
});
