import type { Definition } from "../command.ts";
import type { Context } from "../context.ts";
import { usageFailure } from "../failure.ts";
import { kinds } from "../kinds/kinds.ts";
import type { Item, Kind } from "../kinds/kind.ts";
import { eventLine } from "../output/events.ts";
import { fieldLines } from "../output/fields.ts";
import { collect } from "../pages.ts";
import { referredTo, type Referred } from "../references.ts";

const recentEvents = 3;

export const command: Definition = {
  description: "Shows all fields of something, and of a source or workflow also who listens to it and its last events.",
  arguments: [{ name: "<thing...>", description: "ids, names, or kind/name such as webhook/orders", completes: "source" }],
  examples: [
    { command: "hw describe hello", does: "Show the source hello, its listeners and its last events." },
    { command: "hw describe hello -o json", does: "Print what the API answers about it." },
    { command: "hw describe sources/hello -o yaml", does: "Name the kind where several things have the same name." },
  ],
  operations: [
    "getSource",
    "getWorkflow",
    "getComponent",
    "getWebhook",
    "getAccount",
    "getOrganization",
    "listMySubscriptions",
    "listEvents",
    "listWorkflowEvents",
  ],
  run: async (context, given) => {
    for (const [index, text] of given.list("thing").entries()) {
      if (index > 0 && (context.out.format === "table" || context.out.format === "wide")) await context.out.line("");
      await describeOne(context, await referredTo(context.client, text));
    }
  },
};

async function describeOne(context: Context, { kind, id }: Referred): Promise<void> {
  const { client, out } = context;
  const answer = await detailsOf(context, kind, id);
  const isForPeople = out.format === "table" || out.format === "wide";
  const emits = kind.name === "sources" || kind.name === "workflows";
  const more = isForPeople && emits ? [...(await listenerLines(client, id)), ...(await lastEventLines(client, kind, id))] : [];
  await out.document(answer, () => [...fieldLines(answer.data), ...more]);
}

/** What the API answers about one; kinds without such an operation have it in their list. */
async function detailsOf({ client }: Context, kind: Kind, id: string): Promise<{ readonly data: Item }> {
  if (kind.get !== undefined) return kind.get(client, id);
  const { data } = await collect((query) => kind.list(client, query));
  const found = data.find((item) => item["id"] === id);
  if (found === undefined) throw usageFailure(`there is no ${kind.noun} "${id}"`, `kinds are: ${kinds.map(({ name }) => name).join(", ")}`);
  return { data: found };
}

async function listenerLines(client: Context["client"], id: string): Promise<string[]> {
  const { data } = await collect((query) => client.call("listMySubscriptions", { query }));
  const own = data.filter(({ emitter_id: emitter }) => emitter === id);
  if (own.length === 0) return ["listeners:  none"];
  return [
    "listeners:",
    ...own.map(({ listener_id: listener, event_name: name }) => `  ${listener ?? "-"}${name === "" ? "" : `  channel ${name}`}`),
  ];
}

async function lastEventLines(client: Context["client"], kind: Kind, id: string): Promise<string[]> {
  const query = { limit: recentEvents };
  const { data } =
    kind.name === "sources"
      ? await client.call("listEvents", { path: { id }, query })
      : await client.call("listWorkflowEvents", { path: { workflow_id: id }, query });
  return data.length === 0 ? ["events:     none"] : ["events:", ...data.map((event) => `  ${eventLine(event)}`)];
}
