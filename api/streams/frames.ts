import type { CommittedEvent } from "../../domain/commit.ts";
import { eventMetadata } from "../../domain/event-summary.ts";

/** One thing that streams tell, in the form in which it goes out. */
export interface Item {
  /** Absent for what is no event and so cannot be resumed after: an error, a log line. */
  readonly id?: string;
  readonly channel: string;
  readonly frame: string;
}

export type ShownEvent = Pick<CommittedEvent, "emitId" | "channel" | "dedupeId" | "summary" | "ts" | "payload">;

/** Opens every stream and keeps it open where nothing else is sent. */
export const handshake = ":sse-handshake\n\n";

export const comment = (text: string): string => `: ${text}\n\n`;

/** An item of the default type `message`: known clients parse what follows `data: ` on that one line. */
export function itemOf(event: ShownEvent, emitter: string, id?: string): Item {
  const data = `data: {"event":${onOneLine(event.payload)},"metadata":${JSON.stringify(eventMetadata({ ...event, id: id ?? "" }, emitter))}}\n\n`;
  return { channel: event.channel, ...(id === undefined ? { frame: data } : { id, frame: `id: ${id}\n${data}` }) };
}

/** In JSON a line break is white space between tokens, and here it would end the line. */
const onOneLine = (json: string): string => json.replaceAll(/[\r\n]+/g, " ");
