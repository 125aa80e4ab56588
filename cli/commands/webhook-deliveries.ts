import type { Attempt, DeadLetter } from "../../client/generated/operations.ts";
import type { OptionDefinition, Subcommand } from "../command.ts";
import type { Given } from "../given.ts";
import { listOptions, showList } from "../listing.ts";
import { fieldLines } from "../output/fields.ts";
import type { Column } from "../output/table.ts";
import { ageOfMs } from "../output/time.ts";
import { idOf } from "../references.ts";
import { optionalTime } from "../times.ts";
import { present } from "../values.ts";
import { delivery } from "./webhook-delivery.ts";
import { redrive } from "./webhook-redrive.ts";

const webhook = { name: "<webhook>", description: "a webhook", completes: "webhook" } as const;
export const outcomes = ["delivered", "retry", "dead"] as const;
export const attemptOptions: readonly OptionDefinition[] = [
  { flags: "--outcome <outcome>", description: "only attempts with this outcome", choices: outcomes },
  { flags: "--since <time>", description: "attempts from this time on: ISO 8601, an age such as 2h, or epoch seconds" },
  { flags: "--until <time>", description: "attempts before this time" },
];
export const defaultAttempts = 20;

const attemptColumns: readonly Column<Attempt>[] = [
  { header: "DELIVERY", value: ({ delivery_id: id }) => id, isWhole: true },
  { header: "OUTCOME", value: ({ outcome }) => outcome, isWhole: true },
  { header: "ATTEMPT", value: ({ attempt }) => String(attempt) },
  { header: "STATUS", value: ({ response_status: status }) => String(status ?? "-") },
  { header: "DURATION", value: ({ duration_ms: ms }) => `${ms}ms` },
  { header: "EVENT", value: ({ event_id: id }) => id, isWide: true },
  { header: "SOURCE", value: ({ source_id: id }) => id ?? "-", isWide: true },
  { header: "AGE", value: ({ at_ms: at }) => ageOfMs(at) },
  { header: "CAUSE", value: ({ cause }) => cause ?? "" },
];

const deadLetterColumns: readonly Column<DeadLetter>[] = [
  { header: "DELIVERY", value: ({ delivery_id: id }) => id, isWhole: true },
  { header: "ATTEMPTS", value: ({ attempts }) => String(attempts) },
  { header: "EVENT", value: ({ event_id: id }) => id },
  { header: "AGE", value: ({ died_at_ms: at }) => ageOfMs(at) },
  { header: "CAUSE", value: ({ cause }) => cause },
];

/** The range of `--since` and `--until`. */
export const rangeOf = (given: Given): { readonly since: number | undefined; readonly until: number | undefined } => ({
  since: optionalTime(given.text("since"), "--since", "past"),
  until: optionalTime(given.text("until"), "--until", "past"),
});

/** Subcommands of `hw webhooks` about deliveries. */
export const deliveries: readonly Subcommand[] = [
  {
    name: "deliveries",
    summary: "list attempts at deliveries, newest first",
    arguments: [webhook],
    options: [...listOptions, ...attemptOptions, { flags: "--event <event>", description: "only attempts for this event" }],
    examples: [{ command: "hw webhooks deliveries orders --outcome dead", does: "List failed deliveries." }],
    operations: ["listAttempts"],
    run: async (context, given) => {
      const id = await idOf(context.client, "webhooks", given.required("webhook"));
      const query = { outcome: outcomes.find((each) => each === given.text("outcome")), event_id: given.text("event"), ...rangeOf(given) };
      await showList(context, given, {
        what: "attempts",
        columns: attemptColumns,
        nameOf: ({ delivery_id: delivery }) => delivery,
        read: (page) => context.client.call("listAttempts", { path: { id }, query: { ...query, ...page } }),
        defaultLimit: defaultAttempts,
      });
    },
  },
  delivery,
  {
    name: "dead-letters",
    summary: "list deliveries whose last attempt failed",
    arguments: [webhook],
    options: [...listOptions, { flags: "--expand", description: "with their events" }],
    examples: [{ command: "hw webhooks dead-letters orders", does: "List deliveries that are not retried." }],
    operations: ["listDeadLetters"],
    run: async (context, given) => {
      const id = await idOf(context.client, "webhooks", given.required("webhook"));
      const expand = given.flag("expand") ? ({ expand: "event" } as const) : {};
      await showList(context, given, {
        what: "dead letters",
        columns: deadLetterColumns,
        nameOf: ({ delivery_id: delivery }) => delivery,
        read: (page) => context.client.call("listDeadLetters", { path: { id }, query: { ...expand, ...page } }),
      });
    },
  },
  redrive,
  {
    name: "purge",
    summary: "delete all dead letters",
    arguments: [webhook],
    options: [{ flags: "-y, --yes", description: "delete without asking" }],
    examples: [{ command: "hw webhooks purge orders --yes", does: "Delete dead letters." }],
    operations: ["purgeDeadLetters"],
    run: async ({ client, out, terminal }, given) => {
      const id = await idOf(client, "webhooks", given.required("webhook"));
      await terminal.confirm(`Delete all dead letters of ${id}?`, given.flag("yes"));
      const answer = await client.call("purgeDeadLetters", { path: { id } });
      await out.done(answer, `${answer.data.deleted} dead letters of ${id} deleted`);
    },
  },
  {
    name: "backlog",
    summary: "show what waits to be delivered",
    arguments: [webhook],
    examples: [{ command: "hw webhooks backlog orders", does: "Show due and scheduled deliveries." }],
    operations: ["getBacklog"],
    run: async ({ client, out }, given) => {
      const id = await idOf(client, "webhooks", given.required("webhook"));
      const answer = await client.call("getBacklog", { path: { id } });
      await out.document(answer, () => fieldLines(answer.data));
    },
  },
  {
    name: "retry",
    summary: "attempt a delivery again now",
    arguments: [{ name: "<delivery>", description: "id of a delivery, of a webhook or a workflow" }],
    examples: [{ command: "hw webhooks retry dlv_0123456789ab", does: "Attempt a delivery again." }],
    operations: ["retryDelivery"],
    run: async ({ client, out }, given) => {
      const answer = await client.call("retryDelivery", { path: { id: given.required("delivery") } });
      await out.done(answer, `delivery ${present(answer.data).delivery_id} is attempted again`);
    },
  },
];
