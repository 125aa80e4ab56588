import type { CommittedEvent } from "../../domain/event/committed-event.ts";

/** An event as a run commits it; its payload contains its id. */
export const committedEvent = (id: string, given: Partial<CommittedEvent> = {}): CommittedEvent => ({
  id,
  emitId: `em_${id}`,
  channel: "",
  dedupeId: null,
  summary: null,
  ts: 1,
  payload: JSON.stringify({ id }),
  ...given,
});
