import type { ServerSentEvent } from "../../client/follow.ts";
import type { Event, EventDeletion, WorkflowEventDeletion } from "../../client/generated/operations.ts";
import type { Page } from "../../client/pages.ts";
import type { Definition, Subcommand } from "../command.ts";
import type { Context } from "../context.ts";
import { emitterOf, type Emitter } from "../emitters.ts";
import { usageFailure } from "../failure.ts";
import type { Given } from "../given.ts";
import type { PageQuery } from "../kinds/kind.ts";
import { ageOfMs } from "../output/time.ts";
import { optionalTime } from "../times.ts";
import { eventLine } from "../output/events.ts";
import { onePage } from "../kinds/kind.ts";
import { refuseZero, showList } from "../listing.ts";
import { collect } from "../pages.ts";
import { followLines } from "../follow-lines.ts";

const defaultEvents = 10;
const channel = { flags: "--channel <name>", description: "events of this channel; $errors and $logs are channels too" } as const;
const emitterArgument = { name: "<source>", description: "a source or workflow", completes: "source" } as const;

const deleteEvents: Subcommand = {
  name: "delete",
  summary: "delete events",
  arguments: [emitterArgument],
  options: [
    channel,
    { flags: "--from <event>", description: "first event to delete; by default the oldest" },
    { flags: "--to <event>", description: "last event to delete; by default the newest" },
    { flags: "-y, --yes", description: "delete without asking" },
  ],
  examples: [{ command: "hw events delete hello --yes", does: "Delete all events of a source." }],
  operations: ["deleteEvents", "deleteWorkflowEvents"],
  run: async ({ client, out, terminal }, given) => {
    const { id, isWorkflow } = await emitterOf(client, given.required("source"));
    await terminal.confirm(`Delete events of ${id}?`, given.flag("yes"));
    const query = { event_name: given.text("channel"), start_id: given.text("from"), end_id: given.text("to") };
    await (isWorkflow
      ? client.call("deleteWorkflowEvents", { path: { workflow_id: id }, query })
      : client.call("deleteEvents", { path: { id }, query }));
    await out.done(undefined, `events of ${id} are being deleted`);
  },
};

const deletions: Subcommand = {
  name: "deletions",
  summary: "list deletions of events with their progress",
  arguments: [emitterArgument],
  examples: [{ command: "hw events deletions hello", does: "Show whether a deletion has finished." }],
  operations: ["listEventDeletions", "listWorkflowEventDeletions"],
  options: [
    { flags: "-n, --limit <count>", description: "list at most this many", value: "count" },
    { flags: "-w, --watch", description: "keep running, and print what changes" },
  ],
  run: async (context, given) => {
    const { client } = context;
    const { id, isWorkflow } = await emitterOf(client, given.required("source"));
    await showList(context, given, {
      what: "deletions",
      read: () =>
        onePage<EventDeletion | WorkflowEventDeletion>(
          isWorkflow
            ? client.call("listWorkflowEventDeletions", { path: { workflow_id: id } })
            : client.call("listEventDeletions", { path: { id } }),
        ),
      columns: [
        { header: "ID", value: (deletion) => deletion.id, isWhole: true },
        { header: "STATUS", value: ({ status }) => status },
        { header: "DELETED", value: ({ deleted }) => String(deleted) },
        { header: "CHANNEL", value: ({ event_name: name }) => name ?? "-" },
        { header: "AGE", value: ({ created_at_ms: at }) => ageOfMs(at) },
      ],
    });
  },
};

export const command: Definition = {
  description: "Shows events, the newest last. With -f it goes on with new ones as they are committed, also after a lost connection.",
  arguments: [emitterArgument],
  options: [
    { flags: "-n, --limit <count>", description: `number of past events; by default ${defaultEvents}`, value: "count" },
    { flags: "-f, --follow", description: "keep running, and print new events" },
    channel,
    { flags: "--since <time>", description: "events from this time on: ISO 8601, an age such as 2h, or epoch seconds" },
    { flags: "--until <time>", description: "events before this time" },
    { flags: "--legacy", description: "the older form of the answer; only with -o json or yaml" },
  ],
  examples: [
    { command: "hw events hello", does: "Show the last 10 events." },
    { command: "hw events hello -n 100 -o json", does: "Print the last 100 events as JSON." },
    { command: "hw events hello --channel '$errors'", does: "Show errors of a source." },
    { command: "hw events hello -f -o json", does: "Print each new event as a line of JSON.", isInert: true },
  ],
  operations: ["listEvents", "listEventsAsBefore", "listWorkflowEvents", "listWorkflowErrors", "streamEvents", "streamWorkflowEvents"],
  subcommands: [deleteEvents, deletions],
  run: async (context, given) => {
    refuseConflicts(given);
    const emitter = await emitterOf(context.client, given.required("source"));
    if (given.flag("legacy")) return showLegacy(context, emitter, given);
    if (!given.flag("follow")) return showPast(context, emitter, given);
    await follow(context, emitter, given);
  },
};

/** @throws Failure for options that would be ignored */
function refuseConflicts(given: Given): void {
  const [mode] = (["legacy", "follow"] as const).filter((name) => given.flag(name));
  if (mode === undefined) return refuseZero(given);
  const ignored = [...(mode === "legacy" ? ["channel", "follow"] : []), "since", "until"].filter((name) => given.has(name));
  if (ignored.length > 0) throw usageFailure(`--${mode} excludes ${ignored.map((name) => `--${name}`).join(" and ")}`);
}

async function showPast(context: Context, emitter: Emitter, given: Given): Promise<void> {
  const { out, terminal } = context;
  const limit = given.count("limit") ?? defaultEvents;
  const answer = await terminal.progress("Reading events", () => collect((query) => readEvents(context, emitter, given, query), limit));
  await out.document(answer, () => answer.data.toReversed().map(eventLine));
  if (answer.data.length === 0) out.note("no events");
}

function readEvents({ client }: Context, { id, isWorkflow }: Emitter, given: Given, page: PageQuery): Promise<Page<Event>> {
  const name = given.text("channel");
  const [since, until] = (["since", "until"] as const).map((option) => optionalTime(given.text(option), `--${option}`, "past")?.toString());
  const range = { expand: "event", since, until, ...page };
  if (!isWorkflow) return client.call("listEvents", { path: { id }, query: { ...range, event_name: name } });
  const path = { workflow_id: id };
  return name === "$errors"
    ? client.call("listWorkflowErrors", { path, query: range })
    : client.call("listWorkflowEvents", { path, query: { ...range, event_name: name } });
}

async function showLegacy({ client, out }: Context, { id }: Emitter, given: Given): Promise<void> {
  const answer = await client.call("listEventsAsBefore", { path: { id }, query: { n: given.count("limit") ?? defaultEvents } });
  await out.document(answer, () => answer.data.map((event) => JSON.stringify(event)));
}

/** Past events first, which the stream replays, so that none between both is missed. */
async function follow(context: Context, { id, isWorkflow }: Emitter, given: Given): Promise<void> {
  const query = { event_name: given.text("channel"), replay: String(given.count("limit") ?? 0) };
  await followLines(
    context,
    (options) =>
      isWorkflow
        ? context.client.follow("streamWorkflowEvents", { path: { workflow_id: id }, query }, options)
        : context.client.follow("streamEvents", { path: { id }, query }, options),
    (frame) => ({ value: withId(frame), lines: (value) => [eventLine(value as Event)] }), // As the document of the stream says.
  );
}

/** The event as lists have it: with its id. */
function withId({ id, data }: ServerSentEvent): unknown {
  const value: unknown = JSON.parse(data);
  return typeof value === "object" && id !== undefined ? { id, ...value } : value;
}
