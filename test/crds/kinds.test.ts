import { describe, expect, test } from "vitest";
import { kinds } from "../../crds/kinds.ts";
import { resourceName } from "../../crds/resource.ts";
import { sourceKind } from "../../crds/source.ts";
import { webhookKind } from "../../crds/webhook.ts";

describe("kinds", () => {
  test("no two share a name, plural or short name", () => {
    const names = kinds.flatMap(({ kind, plural, shortNames }) => [kind, plural, ...shortNames]);
    expect(new Set(names).size).toBe(names.length);
  });

  test("plurals and short names are names", () => {
    for (const { plural, shortNames } of kinds)
      for (const name of [plural, ...shortNames]) expect(resourceName.safeParse(name).success).toBe(true);
  });

  test("every kind takes an empty status", () => {
    for (const { status } of kinds) expect(status.safeParse({}).success).toBe(true);
  });

  test("a source of a name and a component gets the defaults", () => {
    expect(sourceKind.spec.parse({ name: "Feed", componentRef: { name: "sc-1" } })).toEqual({
      name: "Feed",
      componentRef: { name: "sc-1" },
      props: {},
      secrets: {},
      active: true,
      emitOnDeploy: true,
      ignoreHookErrors: false,
    });
  });

  test("a webhook has no signing key of its own, one, or two during a rotation", () => {
    const webhook = (...names: string[]) =>
      webhookKind.spec.safeParse({
        url: "https://example.com",
        signingKeys: names.map((name) => ({ secretKeyRef: { name, key: "key" } })),
      }).success;
    expect([webhook(), webhook("a"), webhook("a", "b"), webhook("a", "b", "c")]).toEqual([true, true, true, false]);
  });
});
