import { describe, expect, test } from "vitest";
import { sourceKind } from "../../../crds/source.ts";
import { acme, ada, keys, withApi } from "./support.ts";
import { until } from "../../support/until.ts";

const api = withApi({ deployTimeoutMs: 1_500 });

const create = async (body: object, query = "") => (await api.ask("POST", `/v1/sources${query}`, { body })).body.data;

describe("creating a source", () => {
  test("returns 200 with the deployed source", async () => {
    const code = "name: My Timer; props: timer http db city";
    const { status, body } = await api.ask("POST", "/v1/sources/", {
      body: { component_code: code, configured_props: { timer: { cron: "0 * * * *" }, city: "Ulm" } },
    });
    expect(status).toBe(200);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^dc_[0-9a-z]{12}$/),
      user_id: ada.id,
      component_id: expect.stringMatching(/^sc_/),
      configured_props: {
        timer: { cron: "0 * * * *", interval_seconds: 3_600, timezone: "UTC" },
        http: { endpoint_url: `http://ingress.test/${body.data.id}` },
        db: { type: "$.service.db" },
        city: "Ulm",
      },
      active: true,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      name: "my-timer",
      name_slug: "my-timer",
      state: "active",
      problem: null,
      last_run_at: null,
      last_error: null,
      next_tick_at: expect.any(Number),
      backlog: 0,
    });
    expect(Number.isInteger(body.data.created_at) && body.data.created_at < 1e11).toBe(true);
    const read = await api.ask("GET", `/v1/sources/${body.data.id}`);
    const { user_id: _, ...rest } = body.data;
    expect(read.body.data).toEqual(rest);
  });

  test("numbers the slugs of equal names and creates one component for equal code", async () => {
    const body = { component_code: "name: Twin" };
    const answers = await Promise.all([1, 2, 3].map(() => api.ask("POST", "/v1/sources", { body })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const sources = answers.map((answer) => answer.body.data);
    expect(sources.map(({ name_slug }) => String(name_slug)).toSorted((a, b) => a.localeCompare(b))).toEqual(["twin", "twin-2", "twin-3"]);
    expect(new Set(sources.map(({ component_id }) => component_id)).size).toBe(1);
    expect(new Set(sources.map(({ id }) => id)).size).toBe(3);
  });

  test("prefers the id over code, code over the address, and the address over the key", async () => {
    const saved = await api.ask("POST", "/v1/components", { body: { component_code: "name: Saved; key: saved-key" } });
    const { id } = saved.body.data;
    const component = async (body: object) => (await create(body)).component_id;
    expect(await component({ component_id: id, component_code: "name: Other" })).toBe(id);
    expect(await component({ key: "saved-key" })).toBe(id);
    expect(await component({ component_code: "name: Other", component_url: "https://x.test/other.mjs", key: "saved-key" })).not.toBe(id);
    const fetched = await create({ component_url: "https://x.test/timer.mjs", key: "saved-key" });
    expect(fetched.name).toBe("fetched");
  });

  test.each([
    ["no component", {}, 422, "component_missing"],
    ["a component that does not exist", { component_id: "sc_none" }, 404, "not_found"],
    ["an id of another form", { component_id: "nonsense" }, 404, "not_found"],
    ["an unknown key", { key: "never-saved" }, 404, "not_found"],
    ["an address with nothing behind it", { component_url: "https://x.test/none.mjs" }, 422, "invalid_input"],
    ["an address that is none", { component_url: "ftp://x.test/none.mjs" }, 422, "invalid_input"],
    ["code that is no text", { component_code: 7 }, 422, "invalid_input"],
    ["nothing but empty texts", { component_id: "", component_code: "", component_url: "", key: "" }, 422, "component_missing"],
    ["code that cannot be built", { component_code: "broken" }, 422, "syntax_error"],
    ["an action", { component_code: "name: A; type: action" }, 422, "not_a_source"],
    ["a name that is no text", { component_code: "name: A", name: 1 }, 422, "invalid_input"],
    ["a name of 300 characters", { component_code: "name: A", name: "x".repeat(300) }, 422, "invalid_input"],
    ["props that are no object", { component_code: "name: A", configured_props: [1] }, 422, "invalid_input"],
    ["a prop that does not exist", { component_code: "name: A", configured_props: { nope: 1 } }, 422, "invalid_props"],
    ["a missing prop", { component_code: "name: A; props: token" }, 422, "invalid_props"],
    ["a prop of a wrong type", { component_code: "name: A; props: count", configured_props: { count: "x" } }, 422, "invalid_props"],
    [
      "a prop of more than 64 KiB",
      { component_code: "name: A; props: city", configured_props: { city: "x".repeat(65_537) } },
      422,
      "invalid_props",
    ],
    ["active that is no boolean", { component_code: "name: A", active: "yes" }, 422, "invalid_input"],
    ["code of more than 1 MiB", { component_code: `name: A; // ${"x".repeat(2 ** 20)}` }, 413, "code_too_large"],
    ["a body of more than 4 MiB", { component_code: "x".repeat(5 * 2 ** 20) }, 413, "body_too_large"],
    ["a source that cannot be deployed", { component_code: "name: undeployable" }, 422, "not_deployable"],
  ])("with %s is refused", async (_, body, status, code) => {
    const answer = await api.ask("POST", "/v1/sources", { body });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.body.error).toEqual(expect.any(String));
  });

  test("returns the builder's details", async () => {
    const { body } = await api.ask("POST", "/v1/sources", { body: { component_code: "broken" } });
    expect(body).toEqual({
      error: "component.js:1:1: Unexpected token",
      code: "syntax_error",
      details: { line: 1, column: 1, text: "broken" },
    });
  });

  test.each(["deploy", "activate"])("whose %s hook fails returns the observations and deletes the source", async (hook) => {
    const before = (await api.ask("GET", "/v1/users/me/sources")).body.page_info.total_count;
    const { status, body } = await api.ask("POST", "/v1/sources", {
      body: { component_code: `name: Bad; fail: ${hook}` },
    });
    expect(status).toBe(422);
    expect(body).toEqual({
      error: "observation error",
      code: "observation_error",
      observations: [
        {
          k: "error",
          h: hook,
          ts: expect.any(Number),
          err: {
            name: "TypeError",
            message: "no webhook for you",
            stack: expect.stringContaining("component.js:3:1"),
          },
        },
      ],
    });
    await until(async () => (await api.ask("GET", "/v1/users/me/sources")).body.page_info.total_count <= before);
  });

  test("that is not deployed in time returns 503 with its id, and keeps the source", async () => {
    const { status, body, headers } = await api.ask("POST", "/v1/sources", {
      body: { component_code: "name: A", name: "stuck" },
    });
    expect([status, body.code, headers.get("retry-after")]).toEqual([503, "not_ready_in_time", "1"]);
    expect((await api.ask("GET", `/v1/sources/${body.details.id}`)).body.data.name).toBe("stuck");
    await api.ask("DELETE", `/v1/sources/${body.details.id}`);
  });

  test("seals secrets and never returns them", async () => {
    const source = await create({
      component_code: "name: Secret; props: token city",
      configured_props: { token: "hunter2", city: "Ulm" },
    });
    expect(source.configured_props).toEqual({ city: "Ulm" });
    const { spec } = (await api.store.findById(sourceKind, source.id)) ?? { spec: undefined };
    expect(spec?.props).toEqual({ city: "Ulm" });
    expect(spec?.secrets).toEqual({ token: { sealed: `sealed(${Buffer.from('"hunter2"').toString("base64url")})` } });
    const wrong = await api.ask("POST", "/v1/sources", {
      body: { component_code: "name: Secret; props: token", configured_props: { token: { hunter: 2 } } },
    });
    expect(wrong.status).toBe(422);
    expect(wrong.text + JSON.stringify(api.log)).not.toContain("hunter");
  });

  test("stores emit_on_deploy and ignores unknown fields", async () => {
    const source = await create({ component_code: "name: A", emit_on_deploy: false, surprise: { a: 1 }, name: null });
    expect((await api.store.findById(sourceKind, source.id))?.spec.emitOnDeploy).toBe(false);
  });
});

describe("a source of an organization", () => {
  test.each([`?org_id=${acme.id}`, `?workspace_id=${acme.id}`])("is created with %s and shows its owner", async (query) => {
    const source = await create({ component_code: "name: Shared" }, query);
    expect(source).toMatchObject({ owner_id: acme.id, user_id: ada.id });
    expect((await api.ask("GET", `/v1/sources/${source.id}`)).status).toBe(200);
    expect((await api.ask("GET", `/v1/sources/${source.id}`, { key: keys.bob })).status).toBe(404);
    const listed = (path: string) => api.ask("GET", path).then(({ body }) => body.data.map(({ id }: { id: string }) => id));
    expect(await listed(`/v1/orgs/${acme.id}/sources`)).toContain(source.id);
    expect(await listed(`/v1/workspaces/${acme.id}/sources/`)).toContain(source.id);
    expect(await listed("/v1/users/me/sources?limit=100")).not.toContain(source.id);
  });

  test("can use a component of the user, which is copied", async () => {
    const own = (await api.ask("POST", "/v1/components", { body: { component_code: "name: Mine" } })).body.data;
    const source = await create({ component_id: own.id }, `?org_id=${acme.id}`);
    expect(source.component_id).not.toBe(own.id);
    const copy = (await api.ask("GET", `/v1/components/${source.component_id}`)).body.data;
    expect(copy.code).toBe(own.code);
  });
});

describe("changing a source", () => {
  test("keeps absent fields", async () => {
    const source = await create({
      component_code: "name: Keep; props: timer token city",
      name: "Kept",
      configured_props: { token: "s", city: "Ulm" },
    });
    const off = await api.ask("PUT", `/v1/sources/${source.id}`, { body: { active: false } });
    expect(off.status).toBe(200);
    expect(off.body.data).toMatchObject({
      active: false,
      name: "Kept",
      component_id: source.component_id,
      configured_props: source.configured_props,
      user_id: ada.id,
    });
    const renamed = await api.ask("PUT", `/v1/sources/${source.id}`, { body: { name: "New Name" } });
    expect(renamed.body.data).toMatchObject({ active: false, name: "New Name", name_slug: "new-name" });
    const on = await api.ask("PUT", `/v1/sources/${source.id}`, {
      body: { active: true, configured_props: { timer: { intervalSeconds: 5 } } },
    });
    expect(on.body.data.configured_props).toEqual({ timer: { cron: null, interval_seconds: 5 } });
    expect(Object.keys((await api.store.findById(sourceKind, source.id))?.spec.secrets ?? {})).toEqual(["token"]);
    const none = await api.ask("PUT", `/v1/sources/${source.id}`, { body: { configured_props: { token: null } } });
    expect([none.status, none.body.code]).toEqual([422, "invalid_props"]);
  });

  test("to other code keeps the id and the values of known props", async () => {
    const source = await create({
      component_code: "name: V1; props: city count",
      configured_props: { city: "Ulm", count: 2 },
    });
    const { status, body } = await api.ask("PUT", `/v1/sources/${source.id}`, {
      body: { component_code: "name: V2; props: city" },
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ id: source.id, configured_props: { city: "Ulm" } });
    expect(body.data.component_id).not.toBe(source.component_id);
  });

  test("with its own response changes nothing", async () => {
    const source = await create({
      component_code: "name: Echo; props: timer http db city",
      configured_props: { city: "Ulm" },
    });
    const { status, body } = await api.ask("PUT", `/v1/sources/${source.id}`, { body: source });
    expect([status, body.data.configured_props]).toEqual([200, source.configured_props]);
  });

  test("whose hook fails returns the observations, and keeps the source", async () => {
    const source = await create({ component_code: "name: Fine" });
    const { status, body } = await api.ask("PUT", `/v1/sources/${source.id}`, {
      body: { component_code: "name: Bad; fail: activate" },
    });
    expect([status, body.error, body.observations.length]).toEqual([422, "observation error", 1]);
    const { generation } = (await api.store.findById(sourceKind, source.id))?.metadata ?? { generation: 0 };
    expect((await api.ask("PUT", `/v1/sources/${source.id}`, { body: {} })).body.error).toBe("observation error");
    expect((await api.store.findById(sourceKind, source.id))?.metadata.generation).toBe(generation + 1);
    expect((await api.ask("GET", `/v1/sources/${source.id}`)).status).toBe(200);
    expect((await api.ask("PUT", `/v1/sources/${source.id}`, { body: { component_code: "name: Fixed" } })).status).toBe(200);
  });

  test("loses no concurrent change", async () => {
    const source = await create({ component_code: "name: Busy; props: city" });
    const changes = [{ name: "Renamed" }, { active: false }, { configured_props: { city: "Bonn" } }];
    const answers = await Promise.all(changes.map((body) => api.ask("PUT", `/v1/sources/${source.id}`, { body })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await api.ask("GET", `/v1/sources/${source.id}`)).body.data).toMatchObject({
      name: "Renamed",
      active: false,
      configured_props: { city: "Bonn" },
    });
  });

  test.each([{ name: "x".repeat(300) }, { active: "no" }, { configured_props: "x" }, { component_code: "broken" }])(
    "to %j is refused",
    async (body) => {
      const source = await create({ component_code: "name: Fine" });
      expect((await api.ask("PUT", `/v1/sources/${source.id}`, { body })).status).toBe(422);
    },
  );
});

test("treats empty strings as absent, for clients that send every field", async () => {
  const { component_id } = await create({ component_code: "name: Fixed Fields" });
  const empty = { component_code: "", component_url: "", key: "", name: "", configured_props: null };
  const made = await create({ ...empty, component_id, active: "true" });
  expect(made).toMatchObject({ component_id, active: true });
  const { status, body } = await api.ask("PUT", `/v1/sources/${made.id}`, { body: { ...empty, component_id: "", active: false } });
  expect([status, body.data.component_id, body.data.name, body.data.active]).toEqual([200, component_id, made.name, false]);
});

describe("deleting a source", () => {
  test("returns 204 once it is deleted, then 404", async () => {
    const source = await create({ component_code: "name: Gone" });
    const first = await api.ask("DELETE", `/v1/sources/${source.id}`);
    expect([first.status, first.text]).toEqual([204, ""]);
    expect(await api.store.findById(sourceKind, source.id)).toBeUndefined();
    const second = await api.ask("DELETE", `/v1/sources/${source.id}`);
    expect([second.status, second.body.error]).toEqual([404, expect.stringMatching(/^record not found/)]);
  });

  test("with ignore_hook_errors sets it for the operator", async () => {
    const source = await create({ component_code: "name: Gone" });
    const seen: boolean[] = [];
    const { resourceVersion } = await api.store.list(sourceKind, { limit: 1 });
    const answer = await api.ask("DELETE", `/v1/sources/${source.id}?ignore_hook_errors=true`);
    for await (const event of api.store.watch(sourceKind, resourceVersion, AbortSignal.timeout(120_000))) {
      if (event.type !== "bookmark") seen.push(event.resource.spec.ignoreHookErrors);
      if (event.type === "deleted") break;
    }
    expect([answer.status, seen.at(-1)]).toEqual([204, true]);
    expect((await api.ask("DELETE", `/v1/sources/${source.id}?ignore_hook_errors=perhaps`)).status).toBe(422);
  });
});
