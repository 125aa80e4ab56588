import { describe, expect, test } from "vitest";
import { sourceKind } from "../../../crds/source.ts";
import type { ConfigureRequest, Configurations } from "../../../api/configure-ports.ts";
import type { PropDefinition } from "../../../domain/component/definition.ts";
import { HeadwaterError, UserCode } from "../../../domain/errors.ts";
import { keys, withApi } from "./support.ts";

/** What the API makes of requests to configure; a component is called by a stand-in that writes down what it was asked. */
const asked: ConfigureRequest[] = [];
let answer: Configurations["configure"] = async ({ call }) =>
  call.kind === "props"
    ? { outcome: "props", props: returnedProps }
    : { outcome: "options", options: ["a"], context: { after: 1 }, truncated: false };
const returnedProps: readonly PropDefinition[] = [
  { type: "integer", name: "count", min: 1 },
  { type: "string", name: "pin", secret: true, optional: true },
];
const api = withApi(
  { deployTimeoutMs: 5_000 },
  {
    configurations: {
      configure: (request) => {
        asked.push(request);
        return answer(request);
      },
    },
  },
);

const save = async (code: string): Promise<string> =>
  (await api.ask("POST", "/v1/components", { body: { component_code: code } })).body.data.id;
const last = (): ConfigureRequest | undefined => asked.at(-1);

async function answering<T>(other: Configurations["configure"], act: () => Promise<T>): Promise<T> {
  const before = answer;
  answer = other;
  return act().finally(() => (answer = before));
}

describe("options of a prop", () => {
  test("are requested with all given values, by id and by key", async () => {
    const id = await save("name: Boards; key: boards-key; props: city");
    const body = { prop_name: "city", configured_props: { count: 2 }, page: 3, prev_context: { after: 0 }, query: "he" };
    const answered = await api.ask("POST", `/v1/components/${id}/options`, { body });
    expect([answered.status, answered.body]).toEqual([200, { data: { options: ["a"], context: { after: 1 } } }]);
    expect(last()).toMatchObject({
      props: { count: 2 },
      call: { kind: "options", prop: "city", page: 3, prevContext: { after: 0 }, query: "he" },
    });
    expect((await api.ask("POST", "/v1/components/boards-key/options/", { body: { prop_name: "city" } })).status).toBe(200);
    expect(last()).toEqual({
      namespace: last()?.namespace,
      component: last()?.component,
      call: { kind: "options", prop: "city", page: 0 },
    });
  });

  test("report truncation, and accept null for absent fields", async () => {
    const id = await save("name: Many");
    const body = { prop_name: "x", configured_props: null, page: null, prev_context: null, query: null };
    const cut = await answering(
      async () => ({ outcome: "options", options: [], context: null, truncated: true }),
      () => api.ask("POST", `/v1/components/${id}/options`, { body }),
    );
    expect(cut.body).toEqual({ data: { options: [], context: null, truncated: true } });
  });

  test.each([
    ["no prop", {}, 422, "invalid_input"],
    ["a prop that is no text", { prop_name: 5 }, 422, "invalid_input"],
    ["a page below 0", { prop_name: "a", page: -1 }, 422, "invalid_input"],
    ["a page that is no integer", { prop_name: "a", page: 1.5 }, 422, "invalid_input"],
    ["props that are a list", { prop_name: "a", configured_props: [] }, 422, "invalid_input"],
    ["props of 1 MB", { prop_name: "a", configured_props: { a: "x".repeat(10 ** 6) } }, 413, "configured_props_too_large"],
    ["a query of 2,000 characters", { prop_name: "a", query: "x".repeat(2_000) }, 422, "invalid_input"],
  ])("are refused with %s", async (_, body, status, code) => {
    const before = asked.length;
    const refused = await api.ask("POST", `/v1/components/${await save("name: A")}/options`, { body });
    expect([refused.status, refused.body.code]).toEqual([status, code]);
    expect(asked).toHaveLength(before);
  });

  test("of another user's component return 404", async () => {
    const id = await save("name: Mine");
    for (const path of [
      `components/${id}/options`,
      `components/${id}/props`,
      "components/sc_none/options",
      "sources/dc_none/options",
      "sources/dc_none/props",
    ]) {
      const refused = await api.ask("POST", `/v1/${path}`, { body: { prop_name: "a" }, key: keys.bob });
      expect([path, refused.status]).toEqual([path, 404]);
    }
  });

  test.each([
    [
      new UserCode("options of prop 'a' threw Error: no", { code: "user_code", details: { name: "Error", message: "no" } }),
      422,
      "user_code",
    ],
    [new HeadwaterError(504, "configure_timeout", "no runner answered"), 504, "configure_timeout"],
  ])("return the error of the call: %s", async (error, status, code) => {
    const id = await save("name: Failing");
    const failed = await answering(
      async () => {
        throw error;
      },
      () => api.ask("POST", `/v1/components/${id}/options`, { body: { prop_name: "a" } }),
    );
    expect([failed.status, failed.body.code, failed.body.error]).toEqual([status, code, error.message]);
  });
});

describe("props of a component", () => {
  test("begin with name and type", async () => {
    const id = await save("name: Shown; additional");
    const { body } = await api.ask("POST", `/v1/components/${id}/props`, { body: { configured_props: { a: 1 } } });
    expect(body).toEqual({ data: { configurable_props: returnedProps.map(({ name, type, ...rest }) => ({ name, type, ...rest })) } });
    expect(Object.keys(body.data.configurable_props[0])).toEqual(["name", "type", "min"]);
  });
});

describe("a source whose component has additional props", () => {
  const create = (configured_props: object) =>
    api.ask("POST", "/v1/sources", { body: { component_code: "name: Additional; additional", configured_props } });

  test("is checked by the props that the component returns for its values, and secret values are sealed", async () => {
    const created = await create({ count: 5, pin: "secret-pin" });
    expect(created.status).toBe(200);
    const source = await api.store.findById(sourceKind, created.body.data.id);
    expect(source?.spec.props).toEqual({ count: 5 });
    expect(JSON.stringify(source)).not.toContain("secret-pin");
    expect(Object.keys(source?.spec.secrets ?? {})).toEqual(["pin"]);
  });

  test.each([
    ["a wrong one", { count: 0 }, "prop 'count' is invalid: 0 must be an integer of at least 1"],
    ["a missing one", {}, "prop 'count' is missing: it needs a value of type integer"],
    ["an unknown one", { count: 1, other: 2 }, "prop 'other' is unknown: the component has count, pin"],
  ])("is refused with %s", async (_, props, message) => {
    const refused = await create(props);
    expect([refused.status, refused.body.code, refused.body.error]).toEqual([422, "invalid_props", message]);
  });

  test("is requested by name, keeps absent secrets, and is paused without a call", async () => {
    const { body } = await create({ count: 5, pin: "secret-pin" });
    const path = `/v1/sources/${body.data.id}`;
    const changed = await api.ask("PUT", path, { body: { configured_props: { count: 6 } } });
    expect(changed.status).toBe(200);
    expect(last()).toMatchObject({ source: expect.any(String), props: { count: 6 }, call: { kind: "props" } });
    expect(Object.keys((await api.store.findById(sourceKind, body.data.id))?.spec.secrets ?? {})).toEqual(["pin"]);
    const before = asked.length;
    expect((await api.ask("PUT", path, { body: { active: false } })).body.data.active).toBe(false);
    expect(asked).toHaveLength(before);
    await api.ask("POST", `${path}/options`, { body: { prop_name: "count" } });
    expect(last()).toMatchObject({ source: expect.any(String), component: expect.any(String), call: { prop: "count" } });
  });

  test("is not created if the component throws", async () => {
    const failed = await answering(
      async () => {
        throw new UserCode("additionalProps threw Error: the API says no", { code: "user_code" });
      },
      () => create({ count: 1 }),
    );
    expect([failed.status, failed.body.error]).toEqual([422, "additionalProps threw Error: the API says no"]);
  });

  test("shows its props once they are known", async () => {
    const { body } = await create({ count: 5 });
    const source = await api.store.findById(sourceKind, body.data.id);
    if (source === undefined) throw new Error("the source is gone");
    await api.store.updateStatus(sourceKind, { ...source, status: { ...source.status, configurableProps: returnedProps } });
    const { data } = (await api.ask("GET", `/v1/sources/${body.data.id}`)).body;
    expect(data.configurable_props).toEqual(returnedProps);
    expect(data.configured_props).toEqual({ count: 5 });
  });
});
