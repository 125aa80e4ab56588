import { describe, expect, test } from "vitest";
import { componentKind } from "../../../crds/component.ts";
import { labels } from "../../../crds/resource.ts";
import { workflowKind } from "../../../crds/workflow.ts";
import { acme, ada, keys, withApi, type Answer } from "./support.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";

const api = withApi();
const action = "name: Fetch; type: action; key: my-fetch; props: city count token";

const post = (body: unknown, key?: string, query = ""): Promise<Answer> =>
  api.ask("POST", `/v1/workflows${query}`, { body, ...(key === undefined ? {} : { key }) });
const put = (id: string, body: unknown): Promise<Answer> => api.ask("PUT", `/v1/workflows/${id}`, { body });
const get = async (id: string) => (await api.ask("GET", `/v1/workflows/${id}`)).body.data;
const step = (name: string, fields: object = {}) => ({ name, component_code: action, props: { token: "secret-1" }, ...fields });
const created = async (body: object) => {
  const { status, body: answer } = await post(body);
  expect([status, answer]).toEqual([200, expect.anything()]);
  return answer.data;
};
const specOf = async (id: string) => (await api.store.get(workflowKind, namespaceOfOwner(ada.id), resourceNameOf(id))).spec;
const exists = async (name: string): Promise<boolean> =>
  (await api.ask("GET", "/v1/workflows?limit=100")).body.data.some((each: { name: string }) => each.name === name);

describe("steps within steps", () => {
  const tree = [
    {
      name: "each",
      for_each: "{{ steps.trigger.event.items }}",
      as: "order",
      max_items: 5,
      on_error: "continue",
      steps: [
        {
          name: "check",
          if: "{{ steps.order.item.paid }}",
          then: [step("ship", { props: { token: "secret-1", city: "{{ steps.order.item.city }}" } })],
          else_if: [{ if: "{{ steps.order.index > 2 }}", then: [{ name: "enough", stop: "too many" }] }],
        },
      ],
    },
    { name: "kind", switch: "{{ 1 }}", cases: [{ equals: 1, steps: [step("one")] }], default: [step("other")] },
  ];

  test("are stored, answered and changed like others, with their secrets", async () => {
    const { id, steps } = await created({ name: "Tree", steps: tree });
    expect(steps).toMatchObject([
      {
        for_each: "{{ steps.trigger.event.items }}",
        as: "order",
        max_items: 5,
        on_error: "continue",
        component_id: null,
        steps: [{ if: "{{ steps.order.item.paid }}", then: [{ name: "ship", props: { city: "{{ steps.order.item.city }}" } }] }],
      },
      { switch: "{{ 1 }}", cases: [{ equals: 1, steps: [{ name: "one" }] }], default: [{ name: "other" }] },
    ]);
    const stored = await specOf(id);
    const ship = stored.steps[0]?.steps?.[0]?.then?.[0];
    expect([stored.steps[0]?.onError, ship?.name, Object.keys(ship?.secrets ?? {})]).toEqual(["continue", "ship", ["token"]]);
    // As an editor sends back what it got.
    const { status, body } = await put(id, { steps: (await get(id)).steps });
    expect([status, body.warnings]).toEqual([200, undefined]);
    expect((await specOf(id)).steps[0]?.steps?.[0]?.then?.[0]?.secrets).toEqual(ship?.secrets);
  });

  test("get a warning for what may not have run", async () => {
    const after = step("after", { props: { token: "t", city: "{{ steps.one.$return_value }}" } });
    const { body } = await post({ name: "Uncertain", steps: [...tree, after] });
    expect(body.warnings).toMatchObject([{ code: "may_not_have_run", path: "steps.after.props.city" }]);
    const careful = step("after", { props: { token: "t", city: "{{ steps.one?.$return_value }}" } });
    expect((await post({ name: "Careful", steps: [...tree, careful] })).body.warnings).toBeUndefined();
    const pages = { name: "pages", while: "{{ steps.page?.$return_value !== 3 }}", steps: [step("page")] };
    const polling = await post({ name: "Polling", steps: [pages] });
    expect([polling.status, polling.body.warnings]).toEqual([200, undefined]);
  });

  test("are checked for unknown fields at any depth", async () => {
    const { body } = await post({ name: "Odd", steps: [{ name: "a", if: "{{ 1 }}", then: [step("b", { retires: 1 })] }] });
    expect(body.warnings).toMatchObject([{ code: "unknown_field", path: "steps.0.then.0.retires" }]);
  });
});

describe("unknown fields within a workflow", () => {
  test("are warned about with their path and the nearest name", async () => {
    const { status, body } = await post({
      name: "Odd",
      triggers: [{ type: "timer", interval_seconds: 60, timezon: "UTC" }],
      steps: [step("fetch", { retires: 2, timeoutSeconds: 5, colour: 1 })],
      settings: { orderd: true, throttle: { runs: 1, interval_seconds: 1, burst: 2 } },
    });
    expect(status).toBe(200);
    expect(
      body.warnings.map(({ code, path, message }: Record<string, string>) => [code, path, /did you mean (\w+)/.exec(message ?? "")?.[1]]),
    ).toEqual([
      ["unknown_field", "triggers.0.timezon", "timezone"],
      ["unknown_field", "steps.0.retires", "retries"],
      ["unknown_field", "steps.0.timeoutSeconds", "timeout_ms"],
      ["unknown_field", "steps.0.colour", undefined],
      ["unknown_field", "settings.orderd", "ordered"],
      ["unknown_field", "settings.throttle.burst", undefined],
    ]);
    expect(body.data.steps[0]).toMatchObject({ retries: 0, timeout_ms: null });
  });

  test("are taken in the spelling of the resource, unless both are given", async () => {
    const { body } = await post({
      name: "Camel",
      triggers: [{ type: "timer", intervalSeconds: 60 }],
      steps: [step("fetch", { continueOnError: true, timeoutMs: 500 })],
      settings: { errorMails: false, queueSize: 5, throttle: { runs: 1, intervalSeconds: 9 } },
    });
    expect(body.warnings).toBeUndefined();
    expect(body.data).toMatchObject({
      triggers: [{ interval_seconds: 60 }],
      steps: [{ continue_on_error: true, timeout_ms: 500 }],
      settings: { error_mails: false, queue_size: 5, throttle: { runs: 1, interval_seconds: 9 } },
    });
    const changed = await put(body.data.id, { settings: { errorMails: false, error_mails: true } });
    expect(changed.body.data.settings.error_mails).toBe(true);
    expect(changed.body.warnings).toMatchObject([{ code: "unknown_field", path: "settings.errorMails" }]);
  });

  test("that responses have are accepted silently, and props may have any names", async () => {
    const { id } = await created({
      name: "Again",
      triggers: [{ type: "http" }],
      steps: [step("fetch", { props: { token: "t", city: "x" } })],
    });
    const { triggers, steps, settings } = await get(id);
    const { status, body } = await put(id, { triggers, steps, settings });
    expect([status, body.warnings]).toEqual([200, undefined]);
  });
});

describe("POST /workflows", () => {
  test("answers 200 {data: {id, name, active, deployment_id, triggers, steps}} after the operator has deployed it", async () => {
    const source = (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Emitter; props: timer" } })).body.data.id;
    const data = await created({
      name: "Orders",
      triggers: [
        { source_id: source },
        { type: "http" },
        { type: "timer", cron: "0 9 * * *", timezone: "Europe/Berlin" },
        { type: "timer", interval_seconds: 60 },
      ],
      steps: [
        step("fetch", { props: { token: "secret-1", city: "Graz", count: 2 }, continue_on_error: true, retries: 2, timeout_ms: 1_500 }),
        {
          name: "again",
          component_key: "my-fetch",
          props: { token: "secret-2", city: "{{ steps.fetch.city }}", count: "{{ steps.fetch.n }}" },
        },
      ],
      settings: { concurrency: 3, throttle: { runs: 10, interval_seconds: 60 }, ordered: true },
    });
    expect(data).toEqual({
      id: expect.stringMatching(/^p_[0-9a-z]{12}$/),
      name: "Orders",
      active: true,
      deployment_id: expect.stringMatching(/^d_/),
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      triggers: [
        { id: source, type: "source", source_id: source },
        { id: expect.stringMatching(/^hi_[0-9a-z]{12}$/), type: "http", endpoint_url: `http://ingress.test/${data.id}` },
        { id: expect.stringMatching(/^ti_[0-9a-z]{12}$/), type: "timer", cron: "0 9 * * *", timezone: "Europe/Berlin" },
        { id: expect.stringMatching(/^ti_[0-9a-z]{12}$/), type: "timer", interval_seconds: 60 },
      ],
      steps: [
        {
          id: expect.stringMatching(/^c_[0-9a-z]{12}$/),
          name: "fetch",
          component_id: expect.stringMatching(/^sc_/),
          component_key: "my-fetch",
          props: { city: "Graz", count: 2 },
          configurable_props: expect.arrayContaining([expect.objectContaining({ name: "city", type: "string" })]),
          continue_on_error: true,
          retries: 2,
          timeout_ms: 1_500,
        },
        expect.objectContaining({
          name: "again",
          component_key: "my-fetch",
          props: { city: "{{ steps.fetch.city }}", count: "{{ steps.fetch.n }}" },
          continue_on_error: false,
          retries: 0,
          timeout_ms: null,
        }),
      ],
      settings: { concurrency: 3, throttle: { runs: 10, interval_seconds: 60 }, queue_size: null, ordered: true, error_mails: true },
      state: "active",
      problem: null,
      success_rate: null,
    });
    expect(new Set(data.triggers.map(({ id }: { id: string }) => id)).size).toBe(4);
    expect(await get(data.id)).toEqual(data);
    for (const path of ["/v1/users/me/workflows", "/v1/workflows/"]) expect((await api.ask("GET", path)).body.data).toContainEqual(data);
    const { steps } = await specOf(data.id);
    expect(steps.map(({ secrets }) => Object.keys(secrets))).toEqual([["token"], ["token"]]);
    expect(JSON.stringify(steps)).not.toContain("secret-1");
  });

  test("needs only a name, and accepts org_id in query and body", async () => {
    expect(await created({ name: "Empty" })).toMatchObject({ name: "Empty", active: true, triggers: [], steps: [] });
    const { body } = await post({ name: "Ours", org_id: acme.id, active: "false" });
    expect(body.data).toMatchObject({ owner_id: acme.id, active: false });
    expect((await post({ name: "Ours too" }, keys.ada, `?org_id=${acme.id}&include=owner_id`)).body).toEqual({
      data: { owner_id: acme.id },
    });
    expect((await api.ask("GET", `/v1/orgs/${acme.id}/workflows`)).body.data.map(({ name }: { name: string }) => name)).toEqual([
      "Ours too",
      "Ours",
    ]);
    expect((await post({ name: "Not ours", org_id: acme.id }, keys.bob)).status).toBe(403);
  });

  test.each([
    [{}, "name is missing"],
    [{ name: "" }, "name is invalid: it must not be empty"],
    [{ name: 1 }, "name is invalid"],
    [{ name: "n", steps: {} }, "steps is invalid: it must be an array"],
    [{ name: "n", steps: [{ name: "a b", component_code: action }] }, "steps.0.name is invalid: it must begin with a letter"],
    [{ name: "n", steps: [step("a", { retries: 99 })] }, "step 'a': retries is invalid: it must be an integer from 0 to 10"],
    [{ name: "n", steps: [step("a"), step("b"), step("a")] }, "step 'a' occurs twice"],
    [{ name: "n", steps: [step("trigger")] }, "a step cannot be named 'trigger'"],
    [{ name: "n", steps: [{ name: "a" }] }, "step 'a': no component is given"],
    [{ name: "n", steps: [{ name: "a", component_code: "name: S; props: timer" }] }, "step 'a': component 'S' is a source"],
    [{ name: "n", steps: [{ name: "a", component_code: "broken" }] }, "step 'a': component.js:1:1: Unexpected token"],
    [{ name: "n", steps: [step("a", { props: { token: "t", count: "many" } })] }, "step 'a': prop 'count'"],
    [{ name: "n", steps: [step("a", { props: { token: "t", town: "Graz" } })] }, "step 'a': prop 'town' is unknown"],
    [{ name: "n", steps: [step("a", { props: {} })] }, "step 'a': prop 'token' is missing"],
    [
      { name: "n", steps: [step("a", { props: { token: "t", city: "{{ steps.b.city }}" } }), step("b")] },
      "step 'a', prop 'city': {{ steps.b.city }} reads steps.b, and no step of this name runs before it",
    ],
    [
      { name: "n", steps: [step("a", { props: { token: "t", city: "{{ steps. }}" } })] },
      "step 'a', prop 'city': {{ steps. }} is no JavaScript",
    ],
    [{ name: "n", steps: [{ name: "a", if: "yes", then: [step("b")] }] }, "steps.0.if: step 'a': if must be one expression"],
    [{ name: "n", steps: [{ name: "a", for_each: "{{ [] }}" }] }, "steps.0.steps: step 'a': steps needs at least one step"],
    [{ name: "n", steps: [{ name: "a", if: "{{ 1 }}", while: "{{ 1 }}" }] }, "steps.0: step 'a' has both if and while"],
    [{ name: "n", steps: [{ ...step("a"), else: [step("b")] }] }, "steps.0.else: step 'a': else belongs to if"],
    [{ name: "n", steps: [{ name: "a", try: [step("b")] }] }, "step 'a': try needs catch or finally"],
    [
      { name: "n", steps: [{ name: "a", if: "{{ 1 }}", then: [step("b", { retries: 99 })] }] },
      "step 'a': then.0.retries is invalid: it must be an integer from 0 to 10",
    ],
    [
      { name: "n", steps: [{ name: "a", for_each: "{{ [] }}", steps: [step("b"), { name: "c", try: [step("b")], catch: [] }] }] },
      "steps.0.steps.1.try.0.name: step 'b' occurs twice",
    ],
    [
      { name: "n", steps: [{ name: "a", if: "{{ steps.b }}", then: [step("b")] }] },
      "reads steps.b, and no step of this name runs before it",
    ],
    [{ name: "n", triggers: [{}] }, "triggers.0: type is missing"],
    [{ name: "n", triggers: [{ type: "timer" }] }, "triggers.0: cron and interval_seconds are both missing"],
    [
      { name: "n", triggers: [{ type: "timer", cron: "0 9 * * *", interval_seconds: 9 }] },
      "triggers.0: cron and interval_seconds are both given",
    ],
    [{ name: "n", triggers: [{ type: "timer", cron: "61 * * * *" }] }, "triggers.0: cron '61 * * * *' is invalid"],
    [{ name: "n", triggers: [{ type: "http" }, { type: "mail" }] }, "triggers.1.type is invalid: it must be source, http, timer"],
    [{ name: "n", settings: { concurrency: 0 } }, "settings.concurrency is invalid: it must be an integer from 1 to 1000"],
  ])("refuses %j", async (body, message) => {
    const { status, body: answer } = await post(body);
    expect([status, answer.error]).toEqual([422, expect.stringContaining(message)]);
    expect(await exists("n")).toBe(false);
  });

  test("returns 404 for sources and components of others, and says which step or trigger names them", async () => {
    const foreign = (await api.ask("POST", "/v1/sources", { key: keys.bob, body: { component_code: "name: Bobs" } })).body.data;
    const triggers = await post({ name: "n", triggers: [{ type: "http" }, { source_id: foreign.id }] });
    expect([triggers.status, triggers.body.error]).toEqual([404, expect.stringMatching(/^triggers\.1: source_id is not found: /)]);
    const steps = await post({ name: "n", steps: [{ name: "a", component_id: foreign.component_id }] });
    expect([steps.status, steps.body.error]).toEqual([404, expect.stringMatching(/^step 'a': component_id is not found: /)]);
    const accounts = await post({
      name: "n",
      steps: [{ name: "a", component_code: "name: A; type: action; props: shop", props: { shop: { authProvisionId: "apn_none" } } }],
    });
    expect([accounts.status, accounts.body.code]).toEqual([422, "invalid_props"]);
    expect(accounts.body.error).toMatch(/^step 'a': prop 'shop' names account apn_none/);
    expect(await exists("n")).toBe(false);
  });

  test("deletes a workflow that the operator cannot deploy", async () => {
    const { status, body } = await post({ name: "undeployable", steps: [step("a")] });
    expect([status, body]).toEqual([
      422,
      { error: "the workflow cannot be deployed: it is InvalidStep", code: "not_deployable", details: { reason: "InvalidStep" } },
    ]);
    expect(await exists("undeployable")).toBe(false);
  });
});

describe("PUT /workflows/{id}", () => {
  test("takes any of the fields, and {active} alone", async () => {
    const before = await created({ name: "Any", triggers: [{ type: "http" }], steps: [step("a")], settings: { concurrency: 2 } });
    const paused = (await put(before.id, { active: false })).body.data;
    expect(paused).toEqual({
      ...before,
      active: false,
      state: "paused",
      deployment_id: expect.any(String),
      updated_at: expect.any(Number),
    });
    expect((await put(before.id, { settings: { ordered: true } })).body.data.settings).toMatchObject({ concurrency: 2, ordered: true });
    expect((await put(before.id, { settings: { concurrency: null } })).body.data.settings).toMatchObject({
      concurrency: null,
      ordered: true,
    });
    expect((await put(before.id, { triggers: [] })).body.data).toMatchObject({
      name: "Any",
      active: false,
      triggers: [],
      steps: before.steps,
    });
    expect((await api.ask("PUT", `/v1/workflows/${before.id}/?name=Renamed`)).body.data.name).toBe("Renamed");
    expect((await put(before.id, { activ: true })).status).toBe(422);
    expect((await put(before.id, {})).status).toBe(200);
  });

  test("keeps secrets and components of steps that a client sends back as it read them, also renamed", async () => {
    const before = await created({ name: "Kept", steps: [step("a"), step("b", { props: { token: "secret-3", city: "Graz" } })] });
    const secrets = (await specOf(before.id)).steps.map((each) => each.secrets);
    const [a, b] = before.steps;
    const sent = (
      await put(before.id, {
        ...before,
        steps: [
          { ...b, name: "renamed" },
          { name: "a", props: { city: "Wien" } },
        ],
      })
    ).body.data;
    expect(sent.steps).toMatchObject([
      { name: "renamed", component_id: b.component_id, props: { city: "Graz" } },
      { id: a.id, name: "a", component_id: a.component_id, props: { city: "Wien" } },
    ]);
    expect((await specOf(before.id)).steps.map((each) => each.secrets)).toEqual([secrets[1], secrets[0]]);
  });

  test("keeps the code of a step that kubectl wrote", async () => {
    const namespace = namespaceOfOwner(ada.id);
    const written = await created({ name: "kubectl", steps: [] });
    const stored = await api.store.get(workflowKind, namespace, resourceNameOf(written.id));
    const code = { name: "inline", code: action, props: { city: "Graz", token: "t" }, secrets: {}, continueOnError: false, retries: 0 };
    await api.store.create(componentKind, { namespace, name: `${stored.metadata.name}-inline`, spec: { code: action } });
    await api.store.update(workflowKind, { ...stored, spec: { ...stored.spec, steps: [code] } });
    await expect.poll(async () => (await get(written.id)).steps[0]?.configurable_props.length).toBe(3);
    const [shown] = (await get(written.id)).steps;
    expect((await put(written.id, { steps: [{ ...shown, props: { token: "t2" } }] })).status).toBe(200);
    const [after] = (await specOf(written.id)).steps;
    expect([after?.code, after?.componentRef]).toEqual([action, undefined]);
  });

  test("applies two changes at once, and reports both", async () => {
    const { id } = await created({ name: "Twice", steps: [step("a")] });
    const [named, paused, stepped] = await Promise.all([
      put(id, { name: "Thrice" }),
      put(id, { active: false }),
      put(id, { steps: [step("b")] }),
    ]);
    expect([named.status, paused.status, stepped.status]).toEqual([200, 200, 200]);
    expect(await get(id)).toMatchObject({ name: "Thrice", active: false, steps: [{ name: "b" }] });
  });

  test("reports what the operator refuses", async () => {
    const { id } = await created({ name: "Good" });
    const { status, body } = await put(id, { name: "undeployable" });
    expect([status, body.code]).toEqual([422, "not_deployable"]);
    expect((await put(id, { name: "Good again" })).status).toBe(200);
  });
});

describe("DELETE /workflows/{id}", () => {
  test("answers 204 once, and 404 the second time", async () => {
    const { id } = await created({ name: "Gone" });
    const first = await api.ask("DELETE", `/v1/workflows/${id}`);
    expect([first.status, first.text]).toEqual([204, ""]);
    for (const [method, body] of [["DELETE"], ["GET"], ["PUT", { active: false }]] as const)
      expect([method, (await api.ask(method, `/v1/workflows/${id}`, body === undefined ? {} : { body })).status]).toEqual([method, 404]);
  });

  test("twice at once deletes it once", async () => {
    const { id } = await created({ name: "Gone at once" });
    const answers = await Promise.all([1, 2].map(() => api.ask("DELETE", `/v1/workflows/${id}`)));
    expect(answers.map(({ status }) => status).filter((status) => status !== 204 && status !== 404)).toEqual([]);
    expect(answers.some(({ status }) => status === 204)).toBe(true);
  });
});

describe("access", () => {
  test("workflows of others are not found, and those of an organization are its members'", async () => {
    const mine = await created({ name: "Mine" });
    const ours = await created({ name: "Acme's", org_id: acme.id });
    for (const { id } of [mine, ours])
      for (const [method, body] of [["GET"], ["PUT", { name: "Taken" }], ["DELETE"]] as const)
        expect((await api.ask(method, `/v1/workflows/${id}`, { key: keys.bob, ...(body === undefined ? {} : { body }) })).status).toBe(404);
    await api.accounts.putMember("u_bob", acme.id, "member");
    expect((await api.ask("GET", `/v1/workflows/${ours.id}`, { key: keys.bob })).body.data.owner_id).toBe(acme.id);
    expect((await api.ask("PUT", `/v1/workflows/${ours.id}`, { key: keys.bob, body: { active: false } })).status).toBe(200);
    expect((await api.ask("DELETE", `/v1/orgs/${acme.id}/members/u_bob`)).status).toBeLessThan(300);
    expect((await api.ask("GET", `/v1/workflows/${ours.id}`, { key: keys.bob })).status).toBe(404);
  });

  test("a key that may only read changes nothing", async () => {
    const { id } = await created({ name: "Read" });
    const key = (await api.ask("POST", "/v1/users/me/keys", { body: { name: "reader", scopes: ["read"] } })).body.data.key;
    expect((await api.ask("GET", `/v1/workflows/${id}`, { key })).status).toBe(200);
    expect((await post({ name: "no" }, key)).status).toBe(403);
    expect((await api.ask("PUT", `/v1/workflows/${id}`, { key, body: { active: false } })).status).toBe(403);
    expect((await api.ask("DELETE", `/v1/workflows/${id}`, { key })).status).toBe(403);
  });
});

test("a component that a step runs cannot be deleted", async () => {
  const { id, steps } = await created({ name: "Uses", steps: [step("a", { component_code: `${action}; used` })] });
  const { status, body } = await api.ask("DELETE", `/v1/components/${steps[0].component_id}`);
  expect([status, body.code, body.details.workflows]).toEqual([409, "component_in_use", [id]]);
});

describe("a source that triggers workflows", () => {
  const deployed = async (): Promise<string> =>
    (await api.ask("POST", "/v1/sources", { body: { component_code: "name: Trigger" } })).body.data.id;

  test("is not deleted, and the 409 names the workflows, whether they name it by id or by its resource", async () => {
    const source = await deployed();
    const byId = await created({ name: "By id", active: false, triggers: [{ source_id: source }, { type: "http" }] });
    const spec = workflowKind.spec.parse({ triggers: [{ sourceRef: { name: resourceNameOf(source) } }] });
    await api.store.create(workflowKind, { namespace: namespaceOfOwner(ada.id), name: "by-ref", labels: { [labels.id]: "p_byref" }, spec });
    const { status, body } = await api.ask("DELETE", `/v1/sources/${source}`);
    expect([status, body.code]).toEqual([409, "source_in_use"]);
    expect(body.details.workflows.toSorted()).toEqual([byId.id, "p_byref"].toSorted());
    expect(body.error).toContain(byId.id);
    expect((await api.ask("GET", `/v1/sources/${source}`)).status).toBe(200);
    await api.store.delete(workflowKind, namespaceOfOwner(ada.id), "by-ref");
    expect((await api.ask("DELETE", `/v1/sources/${source}`)).body.details.workflows).toEqual([byId.id]);
    await put(byId.id, { triggers: [] });
    expect((await api.ask("DELETE", `/v1/sources/${source}`)).status).toBe(204);
  });

  test("is deleted with force=true, which removes only its triggers", async () => {
    const [source, other] = [await deployed(), await deployed()];
    const triggers = [{ source_id: source }, { source_id: other }, { type: "timer", interval_seconds: 60 }];
    const { id } = await created({ name: "Keeps others", triggers });
    expect((await api.ask("DELETE", `/v1/sources/${source}?force=maybe`)).status).toBe(422);
    expect((await api.ask("DELETE", `/v1/sources/${source}?force=true`)).status).toBe(204);
    expect((await specOf(id)).triggers).toEqual([{ source: other }, { timer: { intervalSeconds: 60 } }]);
    expect((await put(id, { name: "Goes on" })).status).toBe(200);
  });

  test("is deleted while only the name of a workflow mentions it", async () => {
    const source = await deployed();
    await created({ name: `Not of ${source}`, triggers: [{ type: "http" }] });
    expect((await api.ask("DELETE", `/v1/sources/${source}`)).status).toBe(204);
  });
});
