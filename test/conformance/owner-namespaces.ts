import { expect, test } from "vitest";
import type { OwnerNamespaces } from "../../crds/owner-namespaces.ts";

export interface OwnersUnderTest {
  readonly owners: OwnerNamespaces;
  /** Another process's view of the same namespaces. */
  readonly others: OwnerNamespaces;
  /** Public id of a user that has nothing yet. */
  readonly owner: string;
}

/** What every OwnerNamespaces does. `make` is called once per test. */
export function ownerNamespacesConformance(make: () => Promise<OwnersUnderTest>): void {
  test("the namespace that is ensured is the owner's, both ways", async () => {
    const { owners, owner } = await make();
    const namespace = await owners.ensure(owner);
    expect(await owners.ownerOf(namespace)).toBe(owner);
    expect(await owners.find(owner)).toBe(namespace);
    expect(await owners.ensure(owner)).toBe(namespace);
  });

  test("several that ensure at once get the same one", async () => {
    const { owners, others, owner } = await make();
    const asked = Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? owners : others).ensure(owner));
    expect(new Set(await Promise.all(asked)).size).toBe(1);
  });

  test("a namespace without the label has no owner", async () => {
    const { owners } = await make();
    expect(await owners.ownerOf("kube-system")).toBeUndefined();
    expect(await owners.ownerOf("hw-unowned")).toBeUndefined();
  });

  test("an id that is neither a user's nor an organization's is refused", async () => {
    const { owners } = await make();
    await expect(owners.ensure("dc_abc")).rejects.toMatchObject({ status: 422 });
    await expect(owners.ensure("../etc")).rejects.toMatchObject({ status: 422 });
  });
}
