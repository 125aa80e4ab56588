import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withSystem } from "../support/system/system.ts";
import { startReceiver, type Receiver } from "../support/system/receiver.ts";
import { until } from "../support/until.ts";
import type { Called } from "../support/system/client.ts";
import { createWebhook, deploy, postJson as post, subscribe } from "../support/system/sources.ts";

/** Workflows over REST on a whole installation, as clients use them. */
const action = (run: string, props = "{}"): string =>
  `export default { name: "A step", type: "action", version: "1.0.0", props: ${props}, ${run} };`;

interface Workflow {
  readonly id: string;
  readonly deployment_id: string;
  readonly triggers: readonly { readonly id: string; readonly type: string; readonly endpoint_url?: string }[];
  readonly steps: readonly { readonly id: string; readonly name: string; readonly component_id: string }[];
}
interface Run {
  readonly id: string;
  readonly status: string;
  readonly steps: readonly { readonly name: string; readonly outcome: string; readonly return_value?: unknown; readonly attempt: number }[];
}

const headwater = withSystem();
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
});

async function create(workflow: object): Promise<Workflow> {
  const { status, body, text } = await headwater.call<{ readonly data: Workflow }>("POST", "/workflows", workflow);
  expect(status, text).toBe(200);
  return body.data;
}

const runsOf = async ({ id }: Workflow): Promise<readonly Run[]> => {
  const { body } = await headwater.call<{ readonly data: readonly Run[] }>("GET", `/workflows/${id}/runs`);
  return body.data;
};

async function untilRun(workflow: Workflow, status: string): Promise<Run> {
  let found: Run | undefined;
  await until(async () => (found = (await runsOf(workflow)).find((run) => run.status === status)) !== undefined, `a run is ${status}`);
  const { body } = await headwater.call<{ readonly data: Run }>("GET", `/workflows/${workflow.id}/runs/${found?.id}`);
  return body.data;
}

const endpointOf = ({ triggers }: Workflow): string => triggers.find(({ type }) => type === "http")?.endpoint_url ?? "";

describe("a workflow with an HTTP trigger", () => {
  it("runs its steps, which read the event and earlier steps by expressions, and answers by $.respond", async () => {
    const workflow = await create({
      name: "Greeter",
      triggers: [{ type: "http" }],
      steps: [
        {
          name: "greet",
          component_code: action(`run() { return "Hello " + this.who; }`, `{ who: "string" }`),
          props: { who: "{{ steps.trigger.event.body.name }}" },
        },
        {
          name: "answer",
          component_code: action(
            `async run({ steps, $ }) { await $.respond({ status: 201, body: { text: steps.greet.$return_value } }); $.export("$summary", "greeted"); }`,
          ),
        },
      ],
    });
    expect(workflow.id).toMatch(/^p_/);
    expect(workflow.deployment_id).toMatch(/^d_/);
    expect(workflow.steps.map(({ name }) => name)).toEqual(["greet", "answer"]);
    for (const step of workflow.steps) expect(step.id).toMatch(/^c_/);
    const response = await post(endpointOf(workflow), { name: "Ada" });
    expect([response.status, await response.json()]).toEqual([201, { text: "Hello Ada" }]);
    const run = await untilRun(workflow, "succeeded");
    expect(run.steps.map(({ name, outcome, return_value }) => [name, outcome, return_value])).toEqual([
      ["greet", "succeeded", "Hello Ada"],
      ["answer", "succeeded", null],
    ]);
  });

  it("answers 200 at once without $.respond, and suspends the run until its resume URL is requested", async () => {
    const workflow = await create({
      name: "Approval",
      triggers: [{ type: "http" }],
      steps: [
        {
          name: "ask",
          component_code: action(
            `async run({ $ }) { const { resume_url } = $.flow.suspend(); await fetch(${JSON.stringify(receiver.url)}, { method: "POST", body: JSON.stringify({ resume_url }) }); }`,
          ),
        },
        { name: "after", component_code: action(`run({ steps }) { return steps.ask.$resume_data.body.ok; }`) },
      ],
    });
    expect((await post(endpointOf(workflow), {})).status).toBe(200);
    await untilRun(workflow, "suspended");
    const sent = receiver.received
      .map(({ body }) => JSON.parse(body) as { readonly resume_url?: string })
      .find(({ resume_url }) => resume_url !== undefined);
    expect((await post(sent?.resume_url ?? "", { ok: "yes" })).status).toBe(200);
    const run = await untilRun(workflow, "succeeded");
    expect(run.steps.at(-1)?.return_value).toBe("yes");
  });
});

describe("a failing workflow", () => {
  it("has its error under $errors/event_summaries, and delivers each error event to a webhook that listens to it", async () => {
    const workflow = await create({
      name: "Broken",
      triggers: [{ type: "http" }],
      steps: [{ name: "bad", component_code: action(`run() { throw new Error("no luck"); }`) }],
    });
    const webhook = await createWebhook(headwater, receiver.url);
    await subscribe(headwater, workflow.id, webhook, "$errors");
    for (const n of [1, 2]) await post(endpointOf(workflow), { n });
    interface Errors {
      readonly data: readonly {
        readonly event: {
          readonly original_event: { readonly body: { readonly n: number } };
          readonly original_context: Record<string, unknown>;
          readonly error: Record<string, unknown>;
        };
        readonly metadata: { readonly name: string };
      }[];
    }
    let errors: Called<Errors> | undefined;
    await until(async () => {
      errors = await headwater.call<Errors>("GET", `/workflows/${workflow.id}/$errors/event_summaries?expand=event`);
      return errors.body.data.length === 2;
    }, "both errors are listed");
    const [last] = errors?.body.data ?? [];
    expect(last?.metadata.name).toBe("$errors");
    expect(last?.event.error).toMatchObject({ code: "Error", cellId: workflow.steps[0]?.id, msg: "no luck" });
    expect(last?.event.original_context).toMatchObject({
      workflow_id: workflow.id,
      deployment_id: workflow.deployment_id,
      source_type: "HTTP",
      verified: false,
    });
    expect(errors?.body.data.map(({ event }) => event.original_event.body.n).toSorted()).toEqual([1, 2]);
    await until(
      () => receiver.received.filter(({ body }) => body.includes("no luck")).length === 2,
      "both error events arrive at the webhook",
    );
  });
});

describe("routing", () => {
  it("runs a workflow for the events of a source, and delivers what it emits by $.send.emit to its subscribers", async () => {
    const source = await deploy(
      headwater,
      `export default { name: "Feeder", props: { http: "$.interface.http" }, run(event) { this.$emit({ order: event.body.order }); } };`,
    );
    const workflow = await create({
      name: "Orders",
      triggers: [{ source_id: source.id }],
      steps: [
        {
          name: "forward",
          component_code: action(
            `run({ steps, $ }) { $.send.emit({ name: "paid", raw_event: { total: steps.trigger.event.order * 2 } }); }`,
          ),
        },
      ],
    });
    const webhook = await createWebhook(headwater, receiver.url);
    await subscribe(headwater, "p_*", webhook, "paid");
    await post(source.endpoint, { order: 21 });
    await until(() => receiver.received.some(({ body }) => body === '{"total":42}'), "the emitted event arrives at the webhook");
    let emits: readonly { readonly event: unknown }[] = [];
    await until(async () => {
      const path = `/workflows/${workflow.id}/event_summaries`;
      emits = (await headwater.call<{ readonly data: typeof emits }>("GET", path)).body.data;
      return emits.length > 0;
    }, "the emitted event is listed");
    expect(emits.map(({ event }) => event)).toEqual([{ raw_event: { total: 42 } }]);
  });
});

describe("changing a workflow", () => {
  it("makes a new version by PUT, refuses mistakes by step and field, and deletes it", async () => {
    const steps = [{ name: "one", component_code: action(`run() { return 1; }`) }];
    const workflow = await create({ name: "Changing", triggers: [{ type: "http" }], steps });
    const put = await headwater.call<{ readonly data: Workflow }>("PUT", `/workflows/${workflow.id}`, {
      steps: [...steps, { name: "two", component_code: action(`run() { return 2; }`) }],
    });
    expect(put.status, put.text).toBe(200);
    expect(put.body.data.deployment_id).not.toBe(workflow.deployment_id);
    expect(put.body.data.steps[0]?.id).toBe(workflow.steps[0]?.id);
    const wrong = await headwater.call("PUT", `/workflows/${workflow.id}`, {
      steps: [{ name: "one", component_code: action(`run() {}`, `{ a: "string" }`), props: { a: "{{ steps.missing.x }}" } }],
    });
    expect(wrong.status).toBeGreaterThanOrEqual(400);
    expect(wrong.text).toMatch(/one.*missing/s);
    const off = await headwater.call<{ readonly data: { readonly active: boolean } }>("PUT", `/workflows/${workflow.id}`, {
      active: false,
    });
    expect(off.body.data.active).toBe(false);
    expect((await post(endpointOf(workflow), {})).status).toBe(404);
    expect((await headwater.call("DELETE", `/workflows/${workflow.id}`)).status).toBe(204);
    expect((await headwater.call("GET", `/workflows/${workflow.id}`)).status).toBe(404);
  });

  it("tests the saved steps or a draft with an event, up to one step, and stores nothing", async () => {
    const steps = [
      { name: "one", component_code: action(`run({ steps }) { return steps.trigger.event.n + 1; }`) },
      {
        name: "two",
        component_code: action(`run({ steps, $ }) { $.send.emit({ raw_event: 1 }); return [steps.one.$return_value, $.context.test]; }`),
      },
    ];
    const workflow = await create({ name: "Tested", triggers: [], steps });
    interface Test {
      readonly data: { readonly steps: readonly { readonly name: string; readonly $return_value: unknown }[] };
    }
    const whole = await headwater.call<Test>("POST", `/workflows/${workflow.id}/test`, { event: { n: 1 } });
    expect(whole.status, whole.text).toBe(200);
    expect(whole.body.data.steps.map(({ name, $return_value }) => [name, $return_value])).toEqual([
      ["one", 2],
      ["two", [2, true]],
    ]);
    const part = await headwater.call<Test>("POST", `/workflows/${workflow.id}/test`, { event: { n: 1 }, until_step: "one" });
    expect(part.body.data.steps.map(({ name }) => name)).toEqual(["one"]);
    const draft = await headwater.call<Test>("POST", `/workflows/${workflow.id}/test`, {
      event: {},
      steps: [{ name: "draft", component_code: action(`run() { return "new"; }`) }],
    });
    expect(
      draft.body.data.steps.map(({ name, $return_value }) => [name, $return_value]),
      draft.text,
    ).toEqual([["draft", "new"]]);
    expect(await runsOf(workflow)).toEqual([]);
  });
});

describe("a workflow with control flow", () => {
  const steps = [
    {
      name: "each",
      for_each: "{{ steps.trigger.event.body.orders }}",
      as: "order",
      steps: [
        {
          name: "size",
          if: "{{ steps.order.item.total > 100 }}",
          then: [{ name: "large", component_code: action('run: () => "large"') }],
          // Is not evaluated for a large order.
          else_if: [
            { if: "{{ steps.order.item.note.includes('gift') }}", then: [{ name: "gift", component_code: action('run: () => "gift"') }] },
          ],
          else: [
            {
              name: "guard",
              try: [
                {
                  name: "small",
                  component_code: action('run({ steps }) { if (steps.order.item.total < 0) throw new Error("negative"); return "small"; }'),
                },
              ],
              catch: [{ name: "caught", component_code: action("run: ({ steps }) => steps.guard.$error.message") }],
            },
          ],
        },
      ],
    },
    {
      name: "count",
      switch: "{{ steps.each.$results.length }}",
      cases: [{ equals: 0, steps: [{ name: "none", stop: "no orders" }] }],
      default: [
        { name: "answer", component_key: "headwater-respond", props: { status: 200, body: { results: "{{ steps.each.$results }}" } } },
      ],
    },
  ];

  it("runs the branch, the items and the handlers that its expressions choose", async () => {
    const { id, triggers } = await create({ name: "Orders", triggers: [{ type: "http" }], steps });
    const endpoint = triggers[0]?.endpoint_url ?? "";
    const orders = [{ total: 200 }, { total: 1, note: "a gift" }, { total: 2, note: "" }, { total: -1, note: "" }];
    const answer = await post(endpoint, { orders });
    expect([answer.status, await answer.json()]).toEqual([200, { results: ["large", "gift", "small", "negative"] }]);
    await post(endpoint, { orders: [] });
    const runs = async () => (await headwater.call<{ readonly data: readonly Run[] }>("GET", `/workflows/${id}/runs`)).body.data;
    await until(async () => (await runs()).map(({ status }) => status).includes("exited"), "the run without orders is stopped");
  });

  it("tests a draft of it", async () => {
    const { id } = await create({ name: "Draft" });
    const { body } = await headwater.call<{ readonly data: Run }>("POST", `/workflows/${id}/test`, {
      event: { body: { orders: [{ total: -1, note: "" }] } },
      steps,
    });
    expect(body.data.steps.map(({ name }) => name)).toEqual(["each", "size", "guard", "small", "caught", "count", "answer"]);
    expect(body.data.steps.filter(({ outcome }) => outcome !== "succeeded")).toMatchObject([{ name: "small", outcome: "continued" }]);
  });
});

describe("a step that fetches", () => {
  let server: Server;
  beforeAll(async () => {
    server = createServer((_request, response) => void response.end(JSON.stringify({ items: [1, 2, 3] })));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => server.close());

  it("passes its result to a step of the registry, by key", async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const workflow = await create({
      name: "Fetcher",
      triggers: [{ type: "timer", interval_seconds: 3_600 }],
      steps: [
        { name: "fetch", component_key: "headwater-http-request", props: { url } },
        { name: "count", component_code: action(`run({ steps }) { return JSON.stringify(steps.fetch); }`) },
      ],
    });
    const started = await headwater.call("POST", `/workflows/${workflow.id}/runs`, { event: {} });
    expect(started.status, started.text).toBeLessThan(300);
    const run = await untilRun(workflow, "succeeded");
    expect(run.steps.at(-1)?.return_value).toContain("[1,2,3]");
  });
});
