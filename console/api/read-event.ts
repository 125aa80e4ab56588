import type { Event } from "../../client/generated/operations.ts";
import { api } from "./queries.ts";

const pageItems = 100;
/** Errors and log lines cannot be found by time: so many pages of the newest ones are searched. */
const maxPages = 20;

/** The channel of errors and log lines of runs, whose ids are those of the run with a suffix; undefined for ids of events. */
function derivedChannelOf(id: string): string | undefined {
  if (/^r_\w+e$/.test(id)) return "$errors";
  return /^r_\w+l\d+$/.test(id) ? "$logs" : undefined;
}

const timeOf = (id: string): string | undefined => /^(\d+)-\d+$/.exec(id)?.[1];

/** Whether lists show the event under this id. The error event of a disabled webhook, for instance, is in no list. */
export const isListedId = (id: string): boolean => timeOf(id) !== undefined;

/**
 * The whole event of a source or workflow: lists contain only the beginning of large ones. Null: it is not stored.
 * @param channel reads this channel; by default the events of all channels, and errors and log lines by their ids
 */
export async function readEvent(emitter: string, id: string, signal: AbortSignal, channel = ""): Promise<Event | null> {
  const time = timeOf(id);
  const derived = derivedChannelOf(id);
  if (time === undefined && derived === undefined) return null;
  const query = { expand: "event", event_name: derived ?? channel, ...(time === undefined ? {} : { since: time, until: time }) };
  for (let pages = 0, after = {}; pages < maxPages; pages++) {
    const list = await readPage(emitter, { ...query, ...after, limit: pageItems }, signal);
    const found = list.data.find((event) => event.id === id || (derived !== undefined && event.metadata.emit_id === id));
    if (found !== undefined) return found;
    const end = list.page_info.end_cursor;
    if (list.data.length < pageItems || end === null) return null;
    after = { after: end };
  }
  return null;
}

type Query = Readonly<Record<string, string | number>>;

function readPage(emitter: string, query: Query, signal: AbortSignal) {
  return emitter.startsWith("p_")
    ? api.call("listWorkflowEvents", { path: { workflow_id: emitter }, query }, { signal })
    : api.call("listEvents", { path: { id: emitter }, query }, { signal });
}
