import { type CommittedEvent, isDerived } from "./committed-event.ts";
import { eventMetadata, type EventMetadata } from "./event-metadata.ts";
import { kindOfId } from "../ids.ts";

/** An event as `event_summaries` and streams show it (specification, "Event summary"). */
export interface EventSummary {
  readonly id: string;
  readonly indexed_at_ms: number;
  readonly event: unknown;
  readonly metadata: EventMetadata;
}

/** Bytes of JSON above which event data is truncated by default. */
export const maxSummaryBytes = 1024;
const previewCharacters = 256;

export interface SummaryOptions {
  readonly emitter: string;
  /** When the event was stored. */
  readonly indexedAtMs: number;
  /** `expand=event`: data of any size as it is. */
  readonly expand: boolean;
}

export function eventSummary(event: CommittedEvent, { emitter, indexedAtMs, expand }: SummaryOptions): EventSummary {
  const data = expand ? parseJson(event.payload) : shortenData(event.payload);
  // Events of workflows are under raw_event, but not their errors and log lines, nor events of sources.
  const isWorkflowEmit = kindOfId(emitter) === "workflow" && !isDerived(event.channel);
  return {
    id: event.id,
    indexed_at_ms: indexedAtMs,
    event: isWorkflowEmit ? { raw_event: data } : data,
    metadata: { ...eventMetadata(event, emitter), ...(event.deliverAt === undefined ? {} : { delivery_ts: event.deliverAt }) },
  };
}

/**
 * Data over 1 KiB of JSON stays an object of the same shape: of its top-level fields, those that fit are kept, in order, and
 * `$truncated` has the total size and the number of missing fields. An array or a text becomes an object with `$truncated`,
 * which then holds the beginning of its JSON as `preview`.
 */
export function shortenData(payload: string): unknown {
  const data = parseJson(payload);
  const bytes = utf8Bytes(payload);
  if (bytes <= maxSummaryBytes) return data;
  if (typeof data !== "object" || data === null || Array.isArray(data))
    return { $truncated: { bytes, preview: payload.slice(0, previewCharacters) } };
  const fields = Object.entries(data);
  const kept = fieldsThatFit(fields);
  return Object.fromEntries([...kept, ["$truncated", { bytes, omitted_fields: fields.length - kept.length }]]);
}

function fieldsThatFit(fields: readonly (readonly [string, unknown])[]): readonly (readonly [string, unknown])[] {
  let left = maxSummaryBytes;
  return fields.filter(([name, value]) => {
    const bytes = utf8Bytes(JSON.stringify({ [name]: value }));
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Runners execute user code and may forge an event: one that is not JSON is null, and must not hide the others. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
