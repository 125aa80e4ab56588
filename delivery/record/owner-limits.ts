import type { Clock } from "../../domain/clock.ts";
import { dayOf } from "../../domain/limits/quota.ts";
import type { Log } from "../../domain/log.ts";
import { pause } from "../../domain/retry.ts";
import type { Reading } from "../routing/ports.ts";
import type { OwnerLimits, OwnerUsage } from "./ports.ts";

interface Ports {
  readonly history: OwnerUsage;
  readonly ownerLimits: OwnerLimits;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
}

/** Bounds how long a quota may be exceeded, or raised, before runners apply the change. */
const compareIntervalMs = 1_000;
/** Weights change only with plans, so they are compared in one of this many rounds. */
const roundsPerWeights = 10;
/** Published weights expire after an hour. */
const refreshWeightMs = 20 * 60_000;

/**
 * Keeps the published limits of owners equal to usage and plans in Postgres. Each round compares the whole state, so the reason for a
 * difference does not matter: a run, a changed plan, midnight, or another replica. Blocks from before a restart are read once.
 */
export function startOwnerLimits(ports: Ports): Reading {
  const stopping = new AbortController();
  const comparing = compareUntilStopped(ports, stopping.signal);
  return {
    stop: async () => {
      stopping.abort();
      await comparing;
    },
  };
}

async function compareUntilStopped(ports: Ports, signal: AbortSignal): Promise<void> {
  const weights: PublishedWeights = new Map();
  const blocks: PublishedBlocks = { until: new Map(), isLoaded: false };
  for (let round = 0; !signal.aborted; round++) {
    await publishBlocks(blocks, ports).catch((error: unknown) =>
      ports.log.warn({ op: "quota.publish", err: error }, "exceeded quotas are not published yet, trying again"),
    );
    if (round % roundsPerWeights === 0)
      await publishWeights(weights, ports).catch((error: unknown) =>
        ports.log.warn({ op: "quota.weigh", err: error }, "weights of owners are not published yet, trying again"),
      );
    await pause(compareIntervalMs, signal);
  }
}

interface PublishedBlocks {
  /** Epoch ms until which an owner is blocked, by owner; 0 if it was published before a restart. */
  readonly until: Map<string, number>;
  isLoaded: boolean;
}

async function publishBlocks(published: PublishedBlocks, { history, ownerLimits, clock, log }: Ports): Promise<void> {
  const now = clock.now();
  const { startMs, endMs } = dayOf(now);
  const exceeded = new Set(await history.listOverQuota(startMs));
  if (!published.isLoaded) for (const owner of await ownerLimits.list(now)) published.until.set(owner, 0);
  published.isLoaded = true;
  for (const owner of exceeded) {
    const before = published.until.get(owner);
    if (before === endMs) continue;
    await ownerLimits.block(owner, endMs);
    published.until.set(owner, endMs);
    if (before === 0) continue;
    log.warn({ op: "quota.exceed", "owner.id": owner, until: endMs }, "an owner has used up the quota of the day: its invocations wait");
  }
  for (const owner of published.until.keys()) {
    if (exceeded.has(owner)) continue;
    await ownerLimits.unblock(owner, now);
    published.until.delete(owner);
    log.info({ op: "quota.renew", "owner.id": owner }, "an owner is within its quota again");
  }
}

/** The weights that this replica has published. Weights that it has not published expire. */
type PublishedWeights = Map<string, { readonly weight: number; readonly atMs: number }>;

/** Publishes weights that have changed or are about to expire. What fails is published in the next round. */
async function publishWeights(published: PublishedWeights, { history, ownerLimits, clock }: Ports): Promise<void> {
  const weights = await history.listWeights();
  const now = clock.now();
  for (const [owner, weight] of weights) {
    const before = published.get(owner);
    if (before?.weight === weight && now - before.atMs < refreshWeightMs) continue;
    await ownerLimits.setWeight(owner, weight);
    published.set(owner, { weight, atMs: now });
  }
  for (const owner of published.keys()) {
    if (weights.has(owner)) continue;
    await ownerLimits.removeWeight(owner);
    published.delete(owner);
  }
}
