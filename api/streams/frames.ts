import type { CommittedEvent } from "../../domain/commit.ts";
import type { EmittedEvent } from "../../domain/emitted-event.ts";
import { eventMetadata } from "../../domain/event-metadata.ts";

/** One thing that streams tell, in the form in which it goes out. */
export interface Item {
  /** Absent for what is no event and so cannot be resumed after: an error, a log line. */
  readonly id?: string;
  readonly channel: string;
  readonly frame: string;
  /** An event all the same: a scheduled one, which is due. Its id would order it before events that were committed since. */
  readonly isEvent?: boolean;
}

export type ShownEvent = Pick<CommittedEvent, "emitId" | "channel" | "dedupeId" | "summary" | "ts" | "payload">;

/** Opens every stream and keeps it open where nothing else is sent. */
export const handshake = ":sse-handshake\n\n";

export const comment = (text: string): string => `: ${text}\n\n`;

/** An item of the default type `message`: known clients parse what follows `data: ` on that one line. */
export function itemOf(event: ShownEvent, emitter: string, id?: string): Item {
  const data = `data: {"event":${onOneLine(event.payload)},"metadata":${JSON.stringify(eventMetadata(event, emitter))}}\n\n`;
  return { channel: event.channel, ...(id === undefined ? { frame: data } : { id, frame: `id: ${id}\n${data}` }) };
}

/** A scheduled event that is due. Readers that come back get it once more, from the history. */
export function emittedItem({ source, dedupeId, summary, ...event }: EmittedEvent): Item {
  return { ...itemOf({ ...event, dedupeId: dedupeId ?? null, summary: summary ?? null }, source), isEvent: true };
}

/** In JSON a line break is white space between tokens, and here it would end the line. */
const onOneLine = (json: string): string => json.replaceAll(/[\r\n]+/g, " ");
