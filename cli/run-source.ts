import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../client/client.ts";
import type { Event, Run } from "../client/generated/operations.ts";
import { itemsOf, maxPageItems } from "../client/pages.ts";
import { notFound } from "./failure.ts";

/** An event to run a source with, and the source that emitted it. */
export interface StoredEvent {
  readonly event_id: string;
  readonly emitter_id: string;
}

const pollMs = 500;

/** The last event that a source may have run with: of the newest source that it listens to, otherwise its own. @throws Failure if there is none */
export async function lastEventOf(client: Client, id: string): Promise<StoredEvent> {
  const subscriptions = itemsOf((after) =>
    client.call("listMySubscriptions", { query: { limit: maxPageItems, ...(after === undefined ? {} : { after }) } }),
  );
  const emitters: string[] = [];
  for await (const { emitter_id: emitter, listener_id: listener } of subscriptions) {
    if (listener === id && emitter?.startsWith("dc_") === true) emitters.push(emitter);
  }
  for (const emitter of [...emitters, id]) {
    const last = await newestEvent(client, emitter);
    if (last !== undefined) return { event_id: last.id, emitter_id: emitter };
  }
  throw notFound(`there is no event yet that ${id} can run with`, "give one with --event");
}

export async function newestEvent(client: Client, id: string): Promise<Event | undefined> {
  const { data } = await client.call("listEvents", { path: { id }, query: { limit: 1 } });
  return data[0];
}

/** A run that has ended: the API answers with a started one if it takes long. */
export async function endedRun(client: Client, id: string, runId: string, signal: AbortSignal): Promise<Run | undefined> {
  while (!signal.aborted) {
    const { data } = await client.call("getRun", { path: { id, run_id: runId } });
    if (data.status !== "running") return data;
    await delay(pollMs, undefined, { signal }).catch(() => {}); // Aborted: the loop ends.
  }
  return undefined;
}
