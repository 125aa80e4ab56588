import { z } from "zod";
import type { Rule } from "./rule.ts";
import { eventually, expectEqual, type Session } from "./session.ts";
import { dataOf, pageOf } from "./shapes.ts";

const workflow = z.looseObject({
  id: z.string(),
  triggers: z.array(z.looseObject({ endpoint_url: z.string().optional() })),
  steps: z.array(z.looseObject({ component_id: z.string() })),
});
const run = z.looseObject({ id: z.string(), status: z.string() });
const gone = z.looseObject({ code: z.string(), error: z.string() });
const tested = z.looseObject({ steps: z.array(z.looseObject({ $return_value: z.unknown() })) });
const links = z.looseObject({ resume_url: z.string(), cancel_url: z.string() });

const waits = `export default { type: "action", name: "Conformance Wait", version: "0.1.0",
  run({ steps, $ }) { const urls = $.flow.suspend(steps.trigger.event.body?.ms ?? 600000); $.respond({ status: 200, body: urls }); return urls; } };`;

const statusOf = async (session: Session, id: string): Promise<readonly string[]> =>
  (await session.get(pageOf(run), "GET", `/workflows/${id}/runs`)).data.map(({ status }) => status);

type Made = z.output<typeof workflow>;

/** Creates a workflow of one step, which is deleted at the end with its component. */
async function make(session: Session, name: string, code: string, more: object): Promise<Made> {
  const given = { name: `${session.tag} ${name}`, steps: [{ name: "one", component_code: code }], ...more };
  const { data } = await session.get(dataOf(workflow), "POST", "/workflows", given);
  for (const { component_id: component } of data.steps) session.keep(`/components/${component}`);
  session.keep(`/workflows/${data.id}`);
  return data;
}

async function remove(session: Session, { id, steps }: Made): Promise<void> {
  await session.expectStatus(204, "DELETE", `/workflows/${id}`);
  for (const { component_id: component } of steps) await session.expectStatus(204, "DELETE", `/components/${component}`);
}

/** Workflows: waiting runs, and events that wait for a workflow. */
export const workflowRules: readonly Rule[] = [
  {
    about: "Workflows",
    name: "a resume or cancel URL has one effect, and is answered 410 with what happened afterwards",
    check: async (session) => {
      const made = await make(session, "waits", waits, { triggers: [{ type: "http" }] });
      const endpoint = made.triggers[0]?.endpoint_url ?? "";
      const started = async (body: unknown) => {
        const response = await fetch(endpoint, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body),
        });
        return links.parse(await response.json());
      };
      const request = async (url: string): Promise<readonly [status: number, code: string]> => {
        const response = await fetch(url, { method: "POST" });
        const body: unknown = await response.json();
        return [response.status, response.status === 410 ? gone.parse(body).code : ""];
      };
      const resumed = await started({});
      expectEqual("a resume URL", await request(resumed.resume_url), [200, ""]);
      expectEqual("the same again", await request(resumed.resume_url), [410, "resume_url_used"]);
      expectEqual("the cancel URL then", await request(resumed.cancel_url), [410, "resume_url_used"]);
      const canceled = await started({});
      expectEqual("a cancel URL", await request(canceled.cancel_url), [200, ""]);
      expectEqual("the resume URL then", await request(canceled.resume_url), [410, "resume_url_used"]);
      const late = await started({ ms: 1 });
      await eventually(async () =>
        expectEqual("canceled runs", (await statusOf(session, made.id)).filter((status) => status === "canceled").length, 2),
      );
      expectEqual("a URL after its time", await request(late.resume_url), [410, "resume_url_expired"]);
      const { data: test } = await session.get(dataOf(tested), "POST", `/workflows/${made.id}/test`, { event: { body: {} } });
      expectEqual("a URL of a test", await request(links.parse(test.steps[0]?.$return_value).resume_url), [410, "resume_url_of_test"]);
      await remove(session, made);
    },
  },
  {
    about: "Workflows",
    name: "events that wait for an inactive workflow stay when the subscription ends, and run once it is active",
    check: async (session) => {
      const code = `export default { name: "Conformance Emits", version: "0.1.0", run(event) { this.$emit(event); } };`;
      const emitter = await session.deploy("emits", code);
      const step = `export default { type: "action", name: "Conformance Step", version: "0.1.0", run() { return 1; } };`;
      const listening = async (name: string, active: boolean): Promise<readonly [made: Made, ends: string]> => {
        const made = await make(session, name, `${step} // ${name}`, { active, triggers: [] });
        const ends = `emitter_id=${emitter.id}&listener_id=${made.id}&event_name=`;
        await session.get(dataOf(z.looseObject({ id: z.string() })), "POST", `/subscriptions?${ends}`);
        return [made, ends];
      };
      const [sleeping, ends] = await listening("sleeps", false);
      const [awake] = await listening("is awake", true);
      await session.get(dataOf(z.unknown()), "POST", `/sources/${emitter.id}/runs`, { event: { n: 1 } });
      // Once it has arrived at one of its listeners, it has been delivered to the other one too.
      await eventually(async () => expectEqual("runs of the active workflow", await statusOf(session, awake.id), ["succeeded"]));
      await session.expectStatus(200, "DELETE", `/subscriptions?${ends}`);
      await session.expectStatus(204, "DELETE", `/sources/${emitter.id}`);
      await session.get(dataOf(workflow), "PUT", `/workflows/${sleeping.id}`, { active: true });
      await eventually(async () => expectEqual("runs of the workflow", await statusOf(session, sleeping.id), ["succeeded"]));
      for (const each of [sleeping, awake]) await remove(session, each);
      await session.expectStatus(204, "DELETE", `/components/${emitter.component_id}`);
    },
  },
];
