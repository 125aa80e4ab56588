import { sourceKind } from "../../crds/source.ts";
import { webhookKind } from "../../crds/webhook.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { isId, newId } from "../../domain/ids.ts";
import { replayedEmitId, type Replay, type ReplayedEvent } from "../../domain/event/replay.ts";
import { partsOf } from "../../domain/parts.ts";
import type { TraceContext } from "../../domain/traces.ts";
import { maxPartBytes } from "../http/response/list-parts.ts";
import type { StoredEvent } from "../ports.ts";
import type { User } from "../http/ports.ts";
import type { Access } from "../resources/access.ts";
import type { ApiContext } from "../context.ts";

/** A range of events and their listeners. Both ends inclusive. */
export interface ReplayRequest {
  readonly source: string;
  readonly owner: string;
  readonly startId?: string | undefined;
  readonly endId?: string | undefined;
  readonly channel?: string | undefined;
  /** Absent: all listeners. */
  readonly listener?: string | undefined;
  /** Trace of the request, which is the parent of the deliveries, instead of the original runs. */
  readonly trace?: TraceContext | undefined;
}

export interface Replayed {
  readonly id: string;
  /** Ids of the events, oldest first. */
  readonly events: readonly string[];
}

/** Delivers all stored events of the range again. Resolves when they are stored durably. @throws Unavailable */
export async function replayEvents(request: ReplayRequest, { ports }: Pick<ApiContext, "ports">): Promise<Replayed> {
  const { source, owner, startId, endId, channel, listener, trace } = request;
  const ofChannel = channel === undefined ? {} : { channel };
  const sizes = await ports.history.listEventSizes(source, {
    ...(startId === undefined ? {} : { startId }),
    ...(endId === undefined ? {} : { endId }),
    ...ofChannel,
  });
  const id = newId("replay", ports.randomBytes);
  const replay: Replay = { id, at: ports.clock.now(), ...(listener === undefined ? {} : { listener }) };
  const replayed: string[] = [];
  for (const part of partsOf(sizes, maxPartBytes)) {
    const events = await ports.history.listEvents(source, { startId: part[0]?.id ?? "", endId: part.at(-1)?.id ?? "", ...ofChannel });
    await ports.replays.publish(events.map((event) => replayedEvent(event, replay, { source, owner, trace })));
    replayed.push(...events.map((event) => event.id));
  }
  return { id, events: replayed };
}

function replayedEvent(
  { id: eventId, emitId, channel, ts, payload, dedupeId, summary }: StoredEvent,
  replay: Replay,
  { source, owner, trace }: Pick<ReplayRequest, "source" | "owner" | "trace">,
): ReplayedEvent {
  return {
    replay,
    emitId: replayedEmitId(emitId, replay.id),
    eventId,
    source,
    owner,
    channel,
    ts,
    payload,
    ...(dedupeId === null ? {} : { dedupeId }),
    ...(summary === null ? {} : { summary }),
    ...trace,
  };
}

/** Checks that it can listen and that the user may see it; subscriptions are checked at delivery. @throws InvalidInput, NotFound */
export async function checkListener(listener: string, user: User, access: Access): Promise<void> {
  try {
    if (isId("source", listener)) return void (await access.getReferenced(sourceKind, "source", listener, user));
    if (isId("workflow", listener)) return void (await access.getReferenced(workflowKind, "workflow", listener, user));
    if (isId("webhook", listener)) return void (await access.getReferenced(webhookKind, "webhook", listener, user));
  } catch (error) {
    throw error instanceof NotFound ? new NotFound(`listener ${listener} is not found`) : error;
  }
  throw new InvalidInput(`listener_id '${listener}' is invalid: it must be a source (dc_…), a workflow (p_…) or a webhook (wh_…)`);
}
