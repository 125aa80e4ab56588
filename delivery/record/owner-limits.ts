import { dayOf } from "../../domain/limits/quota.ts";
import { pause } from "../../domain/retry.ts";
import type { DeliveryPorts } from "../ports.ts";
import type { Reading } from "../routing/ports.ts";
import { tellWeights, type ToldWeights } from "../routing/weights.ts";

type Ports = Pick<DeliveryPorts, "history" | "ownerLimits" | "clock" | "log">;

/** How long a quota may be used up, or raised, before runners hear of it. */
const lookEveryMs = 1_000;
/** Weights change when somebody changes a plan: they are looked for less often. */
const looksPerWeights = 10;

/**
 * Keeps runners told of who has used up the day's quota. What was counted, the plans and what was told are compared anew each time, so
 * that it does not matter why they differ: a run, a plan that was changed, midnight, another process that does the same. What was told
 * before a restart is asked for once.
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
  const weights: ToldWeights = new Map();
  const told: Told = { until: new Map(), isComplete: false };
  for (let look = 0; !signal.aborted; look++) {
    await tellQuotas(told, ports).catch((error: unknown) =>
      ports.log.warn({ op: "quota.tell", err: error }, "runners are not told yet whose quota is used up, trying again"),
    );
    if (look % looksPerWeights === 0)
      await tellWeights(weights, ports).catch((error: unknown) =>
        ports.log.warn({ op: "quota.weigh", err: error }, "runners are not told yet whose runs weigh more, trying again"),
      );
    await pause(lookEveryMs, signal);
  }
}

interface Told {
  /** By owner, until when runners hold back what is theirs, epoch ms; 0: it was told before a restart. */
  readonly until: Map<string, number>;
  isComplete: boolean;
}

async function tellQuotas(told: Told, { history, ownerLimits, clock, log }: Ports): Promise<void> {
  const { startMs, endMs } = dayOf(clock.now());
  const over = new Set(await history.listOverQuota(startMs));
  if (!told.isComplete) for (const owner of await ownerLimits.list()) told.until.set(owner, 0);
  told.isComplete = true;
  for (const owner of over) {
    const before = told.until.get(owner);
    if (before === endMs) continue;
    await ownerLimits.block(owner, endMs);
    told.until.set(owner, endMs);
    if (before === 0) continue;
    log.warn({ op: "quota.exceed", "owner.id": owner, until: endMs }, "a quota of the day is used up: what comes waits in the stream");
  }
  for (const owner of told.until.keys()) {
    if (over.has(owner)) continue;
    await ownerLimits.unblock(owner);
    told.until.delete(owner);
    log.info({ op: "quota.renew", "owner.id": owner }, "an owner is within quota again");
  }
}
