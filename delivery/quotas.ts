import { setTimeout as sleep } from "node:timers/promises";
import { dayOf } from "../domain/quota.ts";
import type { DeliveryPorts, Reading } from "./ports.ts";
import { tellWeights, type ToldWeights } from "./weights.ts";

type Ports = Pick<DeliveryPorts, "history" | "overQuota" | "clock" | "log">;

/** How long a quota may be used up, or raised, before runners hear of it. */
const lookEveryMs = 1_000;
/** Weights change when somebody changes a plan: they are looked for less often. */
const looksPerWeights = 10;

/**
 * Keeps runners told of who has used up the day's quota. What was counted, the plans and what is told are compared anew each time, so
 * that it does not matter why they differ: a run, a plan that was changed, midnight, a restart, another process that does the same.
 */
export function startQuotas(ports: Ports): Reading {
  const stopping = new AbortController();
  const looking = keepLooking(ports, stopping.signal);
  return {
    stop: async () => {
      stopping.abort();
      await looking;
    },
  };
}

async function keepLooking(ports: Ports, signal: AbortSignal): Promise<void> {
  const told: ToldWeights = new Map();
  for (let look = 0; !signal.aborted; look++) {
    await tellQuotas(ports).catch((error: unknown) =>
      ports.log.warn({ op: "quota.tell", err: error }, "runners are not told yet whose quota is used up, trying again"),
    );
    if (look % looksPerWeights === 0)
      await tellWeights(told, ports).catch((error: unknown) =>
        ports.log.warn({ op: "quota.weigh", err: error }, "runners are not told yet whose runs weigh more, trying again"),
      );
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined); // Stopping.
  }
}

async function tellQuotas({ history, overQuota, clock, log }: Ports): Promise<void> {
  const { startMs, endMs } = dayOf(clock.now());
  const [over, told] = await Promise.all([history.listOverQuota(startMs), overQuota.list()]);
  for (const owner of over) {
    if (told.includes(owner)) continue;
    await overQuota.tell(owner, endMs);
    log.warn({ op: "quota.exceed", "owner.id": owner, until: endMs }, "a quota of the day is used up: what comes waits in the stream");
  }
  for (const owner of told) {
    if (over.includes(owner)) continue;
    await overQuota.withdraw(owner);
    log.info({ op: "quota.renew", "owner.id": owner }, "an owner is within quota again");
  }
}
