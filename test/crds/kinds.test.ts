import { describe, expect, test } from "vitest";
import { kinds } from "../../crds/kinds.ts";
import { resourceName } from "../../crds/resource.ts";
import { sourceKind } from "../../crds/source.ts";
import { webhookKind } from "../../crds/webhook.ts";

describe("kinds", () => {
  test("have unique names, plurals and short names", () => {
    const names = kinds.flatMap(({ kind, plural, shortNames }) => [kind, plural, ...shortNames]);
    expect(new Set(names).size).toBe(names.length);
  });

  test("have plurals and short names that are resource names", () => {
    for (const { plural, shortNames } of kinds)
      for (const name of [plural, ...shortNames]) expect(resourceName.safeParse(name).success).toBe(true);
  });

  test("accept an empty status", () => {
    for (const { status } of kinds) expect(status.safeParse({}).success).toBe(true);
  });

  test("fill in the defaults of a source with only a name and a component", () => {
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

  test("accept none, one or two signing keys of a webhook", () => {
    const webhook = (...names: string[]) =>
      webhookKind.spec.safeParse({
        url: "https://example.com",
        signingKeys: names.map((name) => ({ secretKeyRef: { name, key: "key" } })),
      }).success;
    expect([webhook(), webhook("a"), webhook("a", "b"), webhook("a", "b", "c")]).toEqual([true, true, true, false]);
  });
});
