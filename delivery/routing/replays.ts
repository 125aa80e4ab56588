import type { ReplayedEvent } from "../../domain/event/replay.ts";
import type { Log } from "../../domain/log.ts";
import { PendingWork } from "../settle.ts";
import type { Pace } from "./dispatch.ts";
import { KeyedChains } from "./keyed-chains.ts";
import type { Reading, Replays } from "./ports.ts";
import { routeEvent, type RouterParts } from "./router.ts";

export interface ReplayParts {
  readonly router: RouterParts;
  readonly ports: { readonly replays: Replays; readonly log: Pick<Log, "error"> };
  readonly pace: Pace;
  readonly signal: AbortSignal;
}

/** Routes replayed events to the current listeners, at a bounded rate. */
export async function readReplays({ router, ports, pace, signal }: ReplayParts): Promise<Reading & { idle(): Promise<void> }> {
  const pending = new PendingWork();
  const route = async (text: string): Promise<void> => {
    const event = JSON.parse(text) as ReplayedEvent; // Only the API writes these, from typed values.
    // The chains are separate, so that emitted events do not wait for replayed ones.
    await routeEvent(event, { pace }, new KeyedChains(), router);
  };
  const report = (error: unknown): void => {
    if (!signal.aborted) ports.log.error({ op: "event.replay", err: error }, "an event cannot be replayed");
  };
  const reading = await ports.replays.read((text, done) => pending.add(route(text).then(done, report)));
  return { stop: () => reading.stop(), idle: () => pending.idle() };
}
