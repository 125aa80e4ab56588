import { describe, expect, it } from "vitest";
import { accountIdOf, accountIdsAmong, accountPropsOf } from "../../../domain/component/account-props.ts";
import { configuredPropsResponse } from "../../../domain/component/prop-responses.ts";
import { checkConfiguredProps } from "../../../domain/component/prop-values.ts";
import type { ComponentDefinition } from "../../../domain/component/definition.ts";

const definition: ComponentDefinition = {
  name: "Uses a shop",
  type: "source",
  hooks: [],
  hasAdditionalProps: false,
  props: [
    { name: "shop", type: "app", app: "shop" },
    { name: "other", type: "app", optional: true },
    { name: "note", type: "string", optional: true },
  ],
};

describe("an account", () => {
  it.each([
    ["apn_1", "apn_1"],
    [{ authProvisionId: "apn_1" }, "apn_1"],
    [{ authProvisionId: "apn_1", label: "Mine" }, "apn_1"],
    [{ __lv: { label: "Mine", value: "apn_1" } }, "apn_1"],
    [{ __lv: { label: "Mine", value: { authProvisionId: "apn_1" } } }, "apn_1"],
  ])("is named by %j", (value, id) => {
    expect(accountIdOf(value)).toBe(id);
    expect(checkConfiguredProps(definition, { shop: value }).values).toEqual({ shop: value });
    expect(configuredPropsResponse(definition, { shop: value }, null)).toEqual({ shop: { authProvisionId: id } });
  });

  it.each([null, 1, "", "apn_", "APN_1", "dc_1", [], ["apn_1"], {}, { authProvisionId: 1 }, { authProvisionId: "dc_1" }])(
    "is not named by %j",
    (value) => {
      expect(accountIdOf(value)).toBeUndefined();
      expect(() => checkConfiguredProps(definition, { shop: value })).toThrow("shop");
    },
  );

  it("is only a value of app props, each with its app", () => {
    const values = { shop: "apn_1", other: { authProvisionId: "apn_2" }, note: "apn_3" };
    expect(accountPropsOf(definition, values)).toEqual([
      { prop: "shop", account: "apn_1", app: "shop" },
      { prop: "other", account: "apn_2", app: undefined },
    ]);
    expect(accountIdsAmong({ ...values, again: "apn_1", none: { x: "apn_4" } })).toEqual(["apn_1", "apn_2", "apn_3"]);
  });
});
