import { z } from "zod";
import type { Rule } from "./rule.ts";
import { eventually, expectEqual } from "./session.ts";
import { dataOf, pageOf, webhook } from "./shapes.ts";

const problem = z.looseObject({ code: z.string(), message: z.string(), since: z.int() }).nullable();
const rate = z.number().min(0).max(1).nullable();
const healthyWebhook = webhook.extend({
  state: z.enum(["active", "paused", "degraded", "failing", "circuit_open", "disabled"]),
  problem,
  success_rate: rate,
  circuit_open_until: z.int().nullable(),
});
const workflow = z.looseObject({
  id: z.string(),
  active: z.boolean(),
  steps: z.array(z.looseObject({ component_id: z.string().nullable() })),
  triggers: z.array(z.looseObject({ type: z.string(), source_id: z.string().nullable().optional() })),
  state: z.enum(["active", "paused", "degraded", "failing", "disabled", "deploying"]),
  problem,
  success_rate: rate,
});
const fails = `export default { type: "action", name: "Fails", version: "0.1.0", run() { throw new Error("no stock"); } };`;

/** The state of webhooks and workflows, apart from their switch, and what keeps a source from being deleted. */
export const healthRules: readonly Rule[] = [
  {
    about: "Webhooks",
    name: "GET and lists show the state of a webhook beside its switch",
    check: async (session) => {
      const name = `${session.tag} health`;
      const { data } = await session.get(
        dataOf(healthyWebhook),
        "POST",
        `/webhooks?url=https://example.com/&name=${encodeURIComponent(name)}`,
      );
      session.keep(`/webhooks/${data.id}`);
      const quiet = [data.active, data.state, data.problem, data.success_rate, data.circuit_open_until];
      expectEqual("a webhook without attempts", quiet, [true, "active", null, null, null]);
      const paused = await session.get(dataOf(healthyWebhook), "PUT", `/webhooks/${data.id}`, { active: false });
      expectEqual("one that is switched off", [paused.data.active, paused.data.state], [false, "paused"]);
      await eventually(async () => {
        const list = await session.get(pageOf(healthyWebhook), "GET", "/users/me/webhooks?limit=100");
        expectEqual("its state in the list", list.data.find(({ id }) => id === data.id)?.state, "paused");
      });
    },
  },
  {
    about: "Workflows",
    name: "GET shows failing with the error of the last run, and active once another version runs",
    check: async (session) => {
      const step = { name: "fails", component_code: fails };
      const { data } = await session.get(dataOf(workflow), "POST", "/workflows", { name: `${session.tag} health`, steps: [step] });
      for (const { component_id } of data.steps) session.keep(`/components/${component_id}`);
      session.keep(`/workflows/${data.id}`);
      expectEqual("a workflow that never ran", [data.active, data.state, data.problem, data.success_rate], [true, "active", null, null]);
      await session.ask("POST", `/workflows/${data.id}/runs`, { body: {} });
      await eventually(async () => {
        const { data: failing } = await session.get(dataOf(workflow), "GET", `/workflows/${data.id}`);
        expectEqual("after a failed run", [failing.active, failing.state, failing.success_rate], [true, "failing", 0]);
        expectEqual("its problem", failing.problem?.message.includes("no stock"), true);
      });
      const { data: changed } = await session.get(dataOf(workflow), "PUT", `/workflows/${data.id}`, { steps: [] });
      expectEqual("another version", [changed.state, changed.problem], ["active", null]);
    },
  },
  {
    about: "Sources",
    name: "DELETE /sources/{id} is refused while it triggers a workflow; force=true removes the trigger",
    check: async (session) => {
      const code = `export default { name: "Conformance Trigger", version: "0.1.0", run() { /* ${session.tag} */ } };`;
      const source = await session.deploy("trigger", code);
      const triggers = [{ source_id: source.id }, { type: "http" }];
      const { data: triggered } = await session.get(dataOf(workflow), "POST", "/workflows", { name: `${session.tag} triggered`, triggers });
      session.keep(`/workflows/${triggered.id}`);
      const { status, text } = await session.ask("DELETE", `/sources/${source.id}`);
      expectEqual("the refusal", [status, text.includes(triggered.id)], [409, true]);
      await session.expectStatus(204, "DELETE", `/sources/${source.id}?force=true`);
      const { data: left } = await session.get(dataOf(workflow), "PUT", `/workflows/${triggered.id}`, { name: `${session.tag} left` });
      const types = left.triggers.map(({ type }) => type);
      expectEqual("the triggers that are left", types, ["http"]);
    },
  },
];
