import { z } from "zod";
import type { Client } from "../../../client/client.ts";
import { usageFailure } from "../../failure.ts";
import { idOf, referredTo } from "../../references.ts";
import { optionalTime } from "../../times.ts";
import { present } from "../../values.ts";
import { listAnswer, nextOf, wholeAnswer } from "./answer.ts";
import { attemptRow, deadLetterRow } from "./rows.ts";
import { after, defineTool, flag, limit, name, time, type Tool } from "./tool.ts";

const of = name("A webhook, or a workflow: what its runs sent with $.send");
const whole = "trace of the delivery shows all";

/** A webhook or workflow. */
async function receiverOf(client: Client, named: string): Promise<{ readonly id: string; readonly isWorkflow: boolean }> {
  const { kind, id } = await referredTo(client, named, ["webhooks", "workflows"]);
  return { id, isWorkflow: kind.name === "workflows" };
}

const deliveries = defineTool({
  name: "deliveries",
  description:
    "Lists attempts at deliveries to a webhook, or of what a workflow sent: outcome, HTTP status, cause. trace shows all attempts of one.",
  effect: "read",
  operations: ["listAttempts", "listSendAttempts"],
  input: {
    of,
    outcome: z.enum(["delivered", "retry", "dead"]).optional().describe("Only attempts with this outcome"),
    event: name("Only attempts for this event of a webhook").optional(),
    run: name("Only what this run of a workflow sent").optional(),
    limit,
    after,
  },
  call: async ({ client }, { of: named, event, run, limit: count, after: cursor, outcome }) => {
    const { id, isWorkflow } = await receiverOf(client, named);
    const query = present({ limit: count, after: cursor, outcome });
    if (isWorkflow) {
      if (event !== undefined) throw usageFailure("event is for webhooks", "give the run of the workflow");
      const page = await client.call("listSendAttempts", {
        path: { workflow_id: id },
        query: { ...query, ...present({ run_id: run }) },
      });
      return listAnswer(page.data.map(attemptRow), { next: nextOf(page, count), whole });
    }
    if (run !== undefined) throw usageFailure("run is for workflows", "give the event");
    const page = await client.call("listAttempts", {
      path: { id },
      query: { ...query, ...present({ event_id: event }) },
    });
    return listAnswer(page.data.map(attemptRow), { next: nextOf(page, count), whole });
  },
});

const deadLetters = defineTool({
  name: "dead_letters",
  description:
    "Lists deliveries to a webhook, or of what a workflow sent, that are not attempted again, with the cause of the last failure.",
  effect: "read",
  operations: ["listDeadLetters", "listFailedSends"],
  input: { of, limit, after },
  call: async ({ client }, { of: named, limit: count, after: cursor }) => {
    const { id, isWorkflow } = await receiverOf(client, named);
    const query = present({ limit: count, after: cursor });
    const page = isWorkflow
      ? await client.call("listFailedSends", { path: { workflow_id: id }, query })
      : await client.call("listDeadLetters", { path: { id }, query });
    return listAnswer(page.data.map(deadLetterRow), { next: nextOf(page, count), whole });
  },
});

const maxRedelivered = 100;

const redeliver = defineTool({
  name: "redeliver",
  description: "Attempts one delivery again now, or queues dead letters of a webhook: those in `deliveries`, by default all.",
  effect: "act",
  operations: ["retryDelivery", "redriveDeadLetters"],
  input: {
    delivery: name("Id of a delivery to attempt again").optional(),
    webhook: name("The webhook whose dead letters are delivered again").optional(),
    deliveries: z.array(name("Id of a delivery")).min(1).max(maxRedelivered).optional().describe("Dead letters of the webhook"),
    since: time("Only dead letters since"),
    dry_run: flag("Only counts them"),
  },
  call: async ({ client }, { delivery, webhook, deliveries: chosen, since, dry_run }) => {
    if ((delivery === undefined) === (webhook === undefined)) throw usageFailure("give either delivery or webhook");
    if (delivery !== undefined) {
      const others = Object.entries({ deliveries: chosen, since, dry_run }).find(([, value]) => value !== undefined);
      if (others !== undefined)
        throw usageFailure(`${others[0]} is for dead letters of a webhook`, "give the webhook in place of delivery");
      return wholeAnswer((await client.call("retryDelivery", { path: { id: delivery } })).data, "trace");
    }
    const id = await idOf(client, "webhooks", webhook ?? "");
    const body = present({ deliveries: chosen, since_ms: optionalTime(since, "since", "past"), dry_run });
    return wholeAnswer((await client.call("redriveDeadLetters", { path: { id }, body })).data, "dead_letters");
  },
});

export const delivered: readonly Tool[] = [deliveries, deadLetters];
export const redelivering: readonly Tool[] = [redeliver];
