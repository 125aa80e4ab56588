import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ComponentDefinition, PropDefinition } from "../../../domain/component/definition.ts";
import { InvalidInput } from "../../../domain/errors.ts";
import { configurablePropsResponse, configuredPropsResponse } from "../../../domain/component/prop-responses.ts";
import { checkConfiguredProps, runtimeProps } from "../../../domain/component/prop-values.ts";

function component(props: readonly PropDefinition[], more: Partial<ComponentDefinition> = {}): ComponentDefinition {
  return { name: "Example", type: "source", props, hooks: [], hasAdditionalProps: false, ...more };
}
function complaintOf(props: readonly PropDefinition[], values: Record<string, unknown>): string {
  try {
    checkConfiguredProps(component(props), values);
    return "accepted";
  } catch (error) {
    if (error instanceof InvalidInput) return error.message;
    throw error;
  }
}

const full = component([
  { name: "timer", type: "$.interface.timer", default: { intervalSeconds: 900 } },
  { name: "http", type: "$.interface.http" },
  { name: "db", type: "$.service.db" },
  { name: "note", type: "alert", alertType: "info", content: "hello" },
  { name: "folder", type: "dir" },
  { name: "github", type: "app", app: "github" },
  { name: "token", type: "string", secret: true },
  { name: "repo", type: "string", withLabel: true },
  { name: "labels", type: "string[]", optional: true },
  { name: "count", type: "integer", min: 1, max: 10, default: 5 },
]);
const values = {
  github: { authProvisionId: "apn_abc123" },
  token: "s3cret",
  repo: { __lv: { label: "Head", value: "head" } },
  labels: { __lv: [{ label: "A", value: "a" }] },
};

describe("checked values", () => {
  test("need no account where the component reads no credentials", () => {
    const props = [{ name: "feeds", type: "app", app: "feeds" }];
    expect(complaintOf(props, {})).toContain("prop 'feeds' is missing: it needs a value of type app");
    expect(checkConfiguredProps(component(props, { needsNoAccounts: true }), {}).values).toEqual({});
  });

  test("are kept as given, the secret ones named", () => {
    expect(checkConfiguredProps(full, values)).toEqual({ values, secrets: ["token"] });
  });

  test("of props that the system provides are dropped, as is null", () => {
    const sentBack = {
      ...values,
      http: { endpoint_url: "http://x" },
      db: { type: "$.service.db" },
      note: "x",
      folder: "y",
      count: null,
    };
    expect(checkConfiguredProps(full, sentBack).values).toEqual(values);
  });

  test("are accepted in the form that responses show", () => {
    const shown = configuredPropsResponse(full, { ...values, timer: { cron: "0 9 * * *", timezone: "Europe/Berlin" } }, "http://x");
    expect(Object.keys(checkConfiguredProps(full, { ...shown, token: "s3cret" }).values).sort()).toEqual([
      "count",
      "github",
      "labels",
      "repo",
      "timer",
      "token",
    ]);
  });

  test("need not be among the options, which are suggestions; their type counts", () => {
    const props: PropDefinition[] = [
      { name: "color", type: "string", options: ["red", { label: "Blue", value: "blue" }] },
      { name: "sizes", type: "integer[]", options: [1, 2, 3] },
    ];
    const given = { color: "a color of my own", sizes: [2, 40] };
    expect(checkConfiguredProps(component(props), given).values).toEqual(given);
    expect(runtimeProps(component(props), given)).toEqual(given);
    expect(complaintOf(props, { color: true, sizes: ["2"] })).toMatch(/'color'.*'sizes'/);
  });

  test("of unknown props are refused with the list of known ones, unless there are additional props", () => {
    const props = [
      { name: "a", type: "string" },
      { name: "b", type: "$.service.db" },
    ];
    expect(complaintOf(props, { a: "x", c: 1 })).toBe("prop 'c' is unknown: the component has a, b");
    expect(complaintOf([], { c: 1 })).toBe("prop 'c' is unknown: the component has no props");
    expect(checkConfiguredProps(component(props, { hasAdditionalProps: true }), { a: "x", c: 1 }).values).toEqual({
      a: "x",
      c: 1,
    });
    expect(complaintOf(props, JSON.parse('{"a":"x","__proto__":1}') as Record<string, unknown>)).toContain("prop '__proto__' is unknown");
  });

  test("are required exactly when the prop has no default and is not optional", () => {
    const flag = fc.boolean();
    fc.assert(
      fc.property(flag, flag, flag, (optional, hasDefault, given) => {
        const prop = { name: "a", type: "string", optional, ...(hasDefault ? { default: "x" } : {}) };
        expect(complaintOf([prop], given ? { a: "y" } : {})).toBe(
          optional || hasDefault || given ? "accepted" : "prop 'a' is missing: it needs a value of type string",
        );
      }),
    );
  });

  test.each<[{ type: string } & Partial<PropDefinition>, unknown, string]>([
    [{ type: "string" }, 5, "prop 'a' is invalid: 5 must be a string"],
    [{ type: "boolean" }, "true", `prop 'a' is invalid: "true" must be true or false`],
    [{ type: "integer" }, 1.5, "prop 'a' is invalid: 1.5 must be an integer"],
    [{ type: "integer", min: 1, max: 3 }, 4, "prop 'a' is invalid: 4 must be an integer of at least 1 and at most 3"],
    [{ type: "integer", min: 1 }, 0, "prop 'a' is invalid: 0 must be an integer of at least 1"],
    [{ type: "object" }, [], "prop 'a' is invalid: [] must be an object"],
    [{ type: "string[]" }, "x", `prop 'a' is invalid: "x" must be an array (string[])`],
    [
      { type: "integer[]", max: 3 },
      [1, 4],
      "prop 'a' is invalid: [1,4] must be an array (integer[]) in which each element is an integer of at most 3",
    ],
    [{ type: "app", app: "github" }, "dc_x", `prop 'a' is invalid: "dc_x" must be an account, {"authProvisionId": "apn_…"}`],
    [{ type: "$.interface.timer" }, { cron: "61 * * * *" }, "prop 'a': cron '61 * * * *' is invalid: minute must be 0 to 59"],
    [{ type: "string", secret: true }, 12345, "prop 'a' is invalid: it must be a string"],
    [{ type: "string" }, { __lv: { label: "x", value: 5 } }, "prop 'a' is invalid: 5 must be a string"],
  ])("of %j: %j is refused", (prop, value, message) => {
    expect(complaintOf([{ ...prop, name: "a" }], { a: value })).toBe(message);
  });

  test("have all their errors reported at once", () => {
    expect(
      complaintOf(
        [
          { name: "a", type: "string" },
          { name: "b", type: "integer" },
        ],
        { b: "x", c: 1 },
      ),
    ).toBe(
      `prop 'c' is unknown: the component has a, b; prop 'a' is missing: it needs a value of type string; prop 'b' is invalid: "x" must be an integer`,
    );
  });

  test("may have 64 KiB and no more", () => {
    const text = [{ name: "a", type: "string" }];
    expect(complaintOf(text, { a: "x".repeat(65_536) })).toBe("accepted");
    expect(complaintOf(text, { a: "é".repeat(32_769) })).toBe("prop 'a' has 65538 bytes: it may have at most 65536");
    expect(complaintOf([{ name: "a", type: "any" }], { a: ["x".repeat(65_536)] })).toContain("it may have at most 65536");
  });

  test("that are sealed count as present and are not validated", () => {
    const secret = component([{ name: "a", type: "string", secret: true }]);
    expect(checkConfiguredProps(secret, { a: "x".repeat(90_000) }, new Set(["a"])).secrets).toEqual(["a"]);
  });

  test("of any kind are accepted or refused with InvalidInput, never with another error", () => {
    const type = fc.constantFrom(
      "string",
      "integer",
      "boolean",
      "object",
      "any",
      "string[]",
      "object[]",
      "app",
      "$.interface.timer",
      "sql",
      "constructor",
    );
    fc.assert(
      fc.property(type, fc.jsonValue(), (each, value) => {
        complaintOf([{ name: "a", type: each }], { a: value as unknown });
      }),
    );
  });
});

test("an instance sees defaults and plain values, and nothing of the system's props", () => {
  expect(runtimeProps(full, values)).toEqual({
    timer: { intervalSeconds: 900 },
    github: { authProvisionId: "apn_abc123" },
    token: "s3cret",
    repo: { label: "Head", value: "head" },
    labels: ["a"],
    count: 5,
  });
});

describe("responses", () => {
  test("show configured props without secrets", () => {
    expect(configuredPropsResponse(full, values, "http://x/abc")).toEqual({
      timer: { cron: null, interval_seconds: 900 },
      http: { endpoint_url: "http://x/abc" },
      db: { type: "$.service.db" },
      github: { authProvisionId: "apn_abc123" },
      repo: values.repo,
      labels: values.labels,
      count: 5,
    });
  });
  test("show a cron timer with its time zone", () => {
    const shown = configuredPropsResponse(full, { timer: { cron: "0 9 * * *", timezone: "Europe/Berlin" } }, null);
    expect(shown["timer"]).toEqual({ cron: "0 9 * * *", interval_seconds: 86_400, timezone: "Europe/Berlin" });
  });
  test("list the configurable props, the name first", () => {
    const [first] = configurablePropsResponse(component([{ type: "string", label: "L", name: "a" }]));
    expect(JSON.stringify(first)).toBe('{"name":"a","type":"string","label":"L"}');
  });
});
