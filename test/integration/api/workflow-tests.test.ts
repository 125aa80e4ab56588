import { describe, expect, test } from "vitest";
import type { ConfigureRequest } from "../../../api/configure-ports.ts";
import type { ManualRun, WorkflowTests } from "../../../api/ports.ts";
import type { DraftRequest } from "../../../api/workflows/ports.ts";
import { namespaceOfOwner, resourceNameOf } from "../../../domain/ids.ts";
import type { StepDeployment } from "../../../domain/workflow/deployment.ts";
import { stepId } from "../../../domain/workflow/step-id.ts";
import type { WorkflowTest, WorkflowTestOutcome } from "../../../domain/workflow/test-run.ts";
import { ada, keys, withApi } from "./support.ts";

/** What the API makes of tests; operator and runner are stand-ins that record what they are asked. */
const tested: (ManualRun & { readonly test: WorkflowTest })[] = [];
const sealed: DraftRequest[] = [];
const configured: ConfigureRequest[] = [];
const timing = { startedAt: 1_700_000_000_000, durationMs: 5, cpuMs: 1 };
const outcome: WorkflowTestOutcome = {
  ...timing,
  status: "failed",
  steps: [
    {
      ...timing,
      id: "c_1",
      name: "first",
      outcome: "succeeded",
      inputs: '{"city":"Graz"}',
      exports: '{"n":1,"$return_value":[2],"$summary":"one"}',
      flow: { kind: "delay", ms: 60_000 },
      sends: [{ kind: "email", argument: '{"subject":"hello"}', step: "first", at: 1_700_000_000_001 }],
      logs: [{ k: "console.log", ts: 1, msg: "hello" }],
      error: null,
    },
    {
      ...timing,
      id: "c_2",
      name: "second",
      outcome: "failed",
      inputs: null,
      exports: "{}",
      flow: null,
      sends: [],
      logs: [],
      error: { name: "TypeError", message: "no city", stack: "TypeError: no city" },
    },
  ],
  response: { status: 201, headers: {}, body: "made" },
  error: null,
};
const step = (name: string): StepDeployment => ({
  id: `c_${name}`,
  name,
  bundle: "b",
  needsNode: false,
  props: {},
  secrets: null,
  continueOnError: false,
  retries: 0,
  timeoutMs: null,
});
let answer: WorkflowTests["request"] = async (request) => {
  tested.push(request);
  return { outcome: Promise.resolve(outcome) };
};
const api = withApi(
  { deployTimeoutMs: 10_000 },
  {
    workflowTests: {
      seal: async (request) => {
        sealed.push(request);
        return request.draft.map(({ name }) => step(name));
      },
      request: (request) => answer(request),
    },
    configurations: {
      configure: async (request) => {
        configured.push(request);
        return request.call.kind === "props"
          ? { outcome: "props", props: [{ name: "city", type: "string" }] }
          : { outcome: "options", options: ["Graz"], context: null, truncated: false };
      },
    },
  },
);

const action = "name: Fetch; type: action; props: city count token";
const create = async (body: object = {}) =>
  (
    await api.ask("POST", "/v1/workflows", {
      body: {
        name: "Tested",
        triggers: [{ type: "timer", interval_seconds: 60 }],
        steps: [{ name: "first", component_code: action, props: { token: "t" } }],
        ...body,
      },
    })
  ).body.data;
const run = (id: string, body: object, key: string = keys.ada) => api.ask("POST", `/v1/workflows/${id}/test`, { body, key });

describe("POST /workflows/{id}/test", () => {
  test("answers the steps' results, and what $.send would have sent", async () => {
    const { id } = await create();
    const { status, body } = await run(id, { event: { x: 1 }, until_step: "first" });
    expect([status, body.data]).toEqual([
      200,
      {
        id: expect.stringMatching(/^r_/),
        workflow_id: id,
        test: true,
        status: "failed",
        started_at_ms: 1_700_000_000_000,
        duration_ms: 5,
        cpu_ms: 1,
        steps: [
          {
            id: "c_1",
            name: "first",
            outcome: "succeeded",
            started_at_ms: 1_700_000_000_000,
            duration_ms: 5,
            cpu_ms: 1,
            inputs: { city: "Graz" },
            exports: { n: 1 },
            $return_value: [2],
            $summary: "one",
            flow: { kind: "delay", ms: 60_000 },
            sends: [{ kind: "email", argument: { subject: "hello" }, at_ms: 1_700_000_000_001 }],
            logs: [{ k: "console.log", ts: 1, msg: "hello" }],
            error: null,
          },
          expect.objectContaining({ name: "second", exports: {}, error: expect.objectContaining({ message: "no city" }) }),
        ],
        response: { status: 201, headers: {}, body: "made" },
        error: { name: "TypeError", message: "no city", stack: "TypeError: no city" },
      },
    ]);
    expect(tested.at(-1)).toMatchObject({ source: id, owner: ada.id, generation: 1, event: { x: 1 }, test: { untilStep: "first" } });
    expect(tested.at(-1)?.test.steps).toBeUndefined();
  });

  test("without an event, sends what the first trigger would send", async () => {
    const { id } = await create();
    await run(id, {});
    expect(tested.at(-1)?.event).toEqual({ timestamp: expect.any(Number), interval_seconds: 60 });
    const http = await create({ triggers: [{ type: "http" }] });
    await run(http.id, {});
    expect(tested.at(-1)?.event).toMatchObject({ method: "GET", path: "/" });
    const none = await create({ triggers: [] });
    await run(none.id, {});
    expect(tested.at(-1)?.event).toEqual({});
  });

  test("runs the steps of a draft without saving them, with stored secrets for absent ones", async () => {
    const { id, steps } = await create();
    const draft = [
      { ...steps[0], props: { city: "{{ steps.trigger.event.city }}" } },
      {
        name: "second",
        component_code: `${action}; draft`,
        props: { token: "new-secret", count: "{{ steps.first.n }}" },
        retries: 3,
        timeout_ms: 250,
      },
    ];
    expect((await run(id, { steps: draft, until_step: "second" })).status).toBe(200);
    expect(tested.at(-1)?.test).toEqual({ untilStep: "second", steps: [step("first"), step("second")] });
    expect(sealed.at(-1)).toEqual({
      namespace: namespaceOfOwner(ada.id),
      workflow: resourceNameOf(id),
      draft: [
        expect.objectContaining({ id: steps[0].id, name: "first", props: { city: "{{ steps.trigger.event.city }}" }, timeoutMs: null }),
        expect.objectContaining({
          name: "second",
          props: { token: "new-secret", count: "{{ steps.first.n }}" },
          retries: 3,
          timeoutMs: 250,
        }),
      ],
    });
    expect((await api.ask("GET", `/v1/workflows/${id}`)).body.data.steps).toEqual(steps);
  });

  test.each([
    [{ until_step: "third" }, "until_step 'third' is not a step: the steps are first"],
    [
      { until_step: "first", steps: [{ name: "other", component_code: action, props: { token: "t" } }] },
      "until_step 'first' is not a step: the steps are other",
    ],
    [{ steps: [{ name: "a" }] }, "step 'a': no component is given"],
    [{ steps: [{ name: "a", component_code: action, props: { token: "very-secret", count: "x" } }] }, "step 'a': prop 'count'"],
    [{ steps: "all" }, "steps is invalid: it must be an array"],
  ])("refuses %j", async (body, message) => {
    const { id } = await create();
    const { status, body: answered, text } = await run(id, body);
    expect([status, answered.error]).toEqual([422, expect.stringContaining(message)]);
    expect(text).not.toContain("very-secret");
  });

  test("is only for those who see the workflow, and not for keys that may only read", async () => {
    const { id } = await create();
    expect((await run(id, {}, keys.bob)).status).toBe(404);
    expect((await run("p_none", {})).status).toBe(404);
    const key = (await api.ask("POST", "/v1/users/me/keys", { body: { name: "reader", scopes: ["read"] } })).body.data.key;
    expect((await run(id, {}, key)).status).toBe(403);
  });

  test("answers 504 when no runner replies in time", async () => {
    const { id } = await create();
    const before = answer;
    answer = async () => ({ outcome: Promise.resolve(undefined) });
    const { status, body } = await run(id, {}).finally(() => (answer = before));
    expect([status, body.code]).toEqual([504, "test_timeout"]);
  });
});

describe("a step of a workflow", () => {
  test("lists options and props with the values chosen so far, by name and by id", async () => {
    const { id, steps } = await create();
    const body = { prop_name: "city", configured_props: { count: 2, city: "{{ steps.trigger.event.city }}" } };
    for (const name of ["first", stepId(id, "first")]) {
      const { status, body: answered } = await api.ask("POST", `/v1/workflows/${id}/steps/${name}/options`, { body });
      expect([status, answered.data]).toEqual([200, { options: ["Graz"], context: null }]);
      expect(configured.at(-1)).toEqual({
        namespace: namespaceOfOwner(ada.id),
        component: resourceNameOf(steps[0].component_id),
        workflow: resourceNameOf(id),
        step: "first",
        props: { count: 2 },
        call: { kind: "options", prop: "city", page: 0 },
      });
    }
    const props = await api.ask("POST", `/v1/workflows/${id}/steps/first/props/`, { body: {} });
    expect(props.body.data.configurable_props).toEqual([{ name: "city", type: "string" }]);
  });

  test("of another workflow, or of others, is not found", async () => {
    const { id } = await create();
    for (const [path, key] of [
      [`${id}/steps/none/props`, keys.ada],
      [`${id}/steps/first/props`, keys.bob],
    ] as const)
      expect((await api.ask("POST", `/v1/workflows/${path}`, { body: {}, key })).status).toBe(404);
  });

  test("gets additional props for its values, whose secret ones are stored as secrets", async () => {
    const { id, steps } = await create({
      steps: [{ name: "a", component_code: "name: More; type: action; additional", props: { city: "{{ steps.trigger.event }}" } }],
    });
    expect(configured.at(-1)).toMatchObject({ props: {}, call: { kind: "props" } });
    expect(steps[0].props).toEqual({ city: "{{ steps.trigger.event }}" });
    expect((await api.ask("DELETE", `/v1/workflows/${id}`)).status).toBe(204);
  });
});
