import { type CommittedEvent, isDerived } from "../../domain/event/committed-event.ts";
import type { EmittedEvent } from "../../domain/event/emitted-event.ts";
import type { CommittedSend } from "../../domain/workflow/run-commit.ts";
import { kindOfId } from "../../domain/ids.ts";
import { eventMetadata } from "../../domain/event/event-metadata.ts";

/** One frame of a stream. */
export interface Item {
  /** Absent for errors and log lines, which are not events and cannot be resumed after. */
  readonly id?: string;
  readonly channel: string;
  readonly frame: string;
  /** A scheduled event that is due. It has no id, which would order it before later commits. */
  readonly isEvent?: boolean;
}

export type ShownEvent = Pick<CommittedEvent, "emitId" | "channel" | "dedupeId" | "summary" | "ts" | "payload">;

/** Opens every stream, and keeps quiet streams open. */
export const handshake = ":sse-handshake\n\n";

export const comment = (text: string): string => `: ${text}\n\n`;

/** An item of the default type `message`. Known clients parse the text after `data: ` as one line. */
export function itemOf(event: ShownEvent, emitter: string, id?: string): Item {
  const payload = isWorkflowEmit(event, emitter) ? `{"raw_event":${event.payload}}` : event.payload;
  const data = `data: {"event":${onOneLine(payload)},"metadata":${JSON.stringify(eventMetadata(event, emitter))}}\n\n`;
  return { channel: event.channel, ...(id === undefined ? { frame: data } : { id, frame: `id: ${id}\n${data}` }) };
}

/** The same form as in event summaries. */
const isWorkflowEmit = ({ channel }: ShownEvent, emitter: string): boolean => kindOfId(emitter) === "workflow" && !isDerived(channel);

/** What `$.send.sse({channel, payload})` sends: not an event, so that it cannot be resumed after. */
export function sentItem({ id, argument, at }: CommittedSend, emitter: string): Item | undefined {
  const { channel, payload } = fieldsOf(argument);
  if (typeof channel !== "string") return undefined;
  const shown = { emitId: id, channel, dedupeId: null, summary: null, ts: at, payload: "" };
  const data = `data: {"event":${JSON.stringify(payload ?? null)},"metadata":${JSON.stringify(eventMetadata(shown, emitter))}}\n\n`;
  return { channel, frame: data, isEvent: true };
}

/** A scheduled event that is due. Readers that reconnect get it again, from the history. */
export function emittedItem({ source, dedupeId, summary, ...event }: EmittedEvent): Item {
  return { ...itemOf({ ...event, dedupeId: dedupeId ?? null, summary: summary ?? null }, source), isEvent: true };
}

/** Replaces line breaks between JSON tokens, which would end the line. */
const onOneLine = (json: string): string => json.replaceAll(/[\r\n]+/g, " ");

/** Runners execute user code and may forge texts: those that are no JSON object have no fields. */
function fieldsOf(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
