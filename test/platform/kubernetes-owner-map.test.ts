import fc from "fast-check";
import { expect, it } from "vitest";
import { createOwnerMap, type IsConfirmed, type OwnedNamespace } from "../../platform/kubernetes/owners/owner-map.ts";

const namespace: fc.Arbitrary<OwnedNamespace> = fc.record({
  name: fc.constantFrom("a", "b", "hw-u-1", "hw-u-2"),
  owner: fc.constantFrom("u_1", "u_2"),
  createdAt: fc.constantFrom("2026-11-21T00:00:00Z", "2026-11-21T00:00:01Z"),
  isTerminating: fc.boolean(),
});
const step = fc.oneof(
  namespace.map((given) => ({ act: "set" as const, given })),
  namespace.map((given) => ({ act: "delete" as const, given })),
  fc.subarray(["a u_1", "a u_2", "b u_1", "hw-u-1 u_1", "hw-u-2 u_2"]).map((keys) => ({ act: "confirm" as const, keys })),
  fc.uniqueArray(namespace, { selector: ({ name }) => name }).map((all) => ({ act: "replace" as const, all })),
);

/** One that is not in deletion, if there is one: that named after the owner, else the oldest; names decide between equal timestamps. */
function bestOf(all: readonly OwnedNamespace[], owner: string): OwnedNamespace | undefined {
  const key = ({ isTerminating, createdAt, name }: OwnedNamespace): string =>
    `${Number(isTerminating)} ${Number(name !== `hw-${owner.replace("_", "-")}`)} ${createdAt} ${name}`;
  return all.filter((each) => each.owner === owner).toSorted((a, b) => (key(a) < key(b) ? -1 : 1))[0];
}

function answers(all: readonly OwnedNamespace[]): Map<string, string> {
  const counting = all.filter((each) => each.isTerminating || bestOf(all, each.owner)?.name === each.name);
  return new Map(counting.map(({ name, owner }) => [name, owner]));
}

/** Method: random changes; after each, the answers are compared with those computed from the whole. */
it("maps each namespace to its owner, and returns exactly the names whose answer changed", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const map = createOwnerMap();
      let isConfirmed: IsConfirmed = () => true;
      let all: OwnedNamespace[] = [];
      const counting = (): OwnedNamespace[] => all.filter(({ name, owner }) => isConfirmed({ namespace: name, owner }));
      for (const each of steps) {
        const before = answers(counting());
        let returned: readonly string[];
        if (each.act === "confirm") {
          isConfirmed = ({ namespace: name, owner }) => each.keys.includes(`${name} ${owner}`);
          returned = map.setConfirmed(isConfirmed);
        } else if (each.act === "replace") {
          all = each.all;
          returned = map.replace(each.all);
        } else {
          all = all.filter(({ name }) => name !== each.given.name);
          if (each.act === "set") all.push(each.given);
          returned = each.act === "set" ? map.set(each.given) : map.delete(each.given.name);
        }
        const after = answers(counting());
        for (const name of ["a", "b", "hw-u-1", "hw-u-2"]) expect(map.ownerOf(name)).toBe(after.get(name));
        for (const owner of ["u_1", "u_2"]) expect(map.find(owner)).toEqual(bestOf(counting(), owner));
        const changed = ["a", "b", "hw-u-1", "hw-u-2"].filter((name) => before.get(name) !== after.get(name));
        // Replacing works step by step, so it may also return a name that is unchanged in the end.
        if (each.act === "replace") expect(returned).toEqual(expect.arrayContaining(changed));
        else expect(returned.toSorted()).toEqual(changed);
      }
    }),
  );
});
