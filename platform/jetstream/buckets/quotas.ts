import { z } from "zod";
import { buckets } from "../../../domain/subjects.ts";
import { Bucket } from "./bucket.ts";
import { followChanges } from "./bucket-changes.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";

/** Epoch ms until which an owner is, or was, blocked because the quota is used up, by the owner's id. */
const entriesOf = (connection: Connection): Bucket<number> => new Bucket(connection, buckets.quotas, (json) => z.number().parse(json));

/** The bucket also holds weights other than 1, under this key: one token, like an owner's id. */
const weightKey = (owner: string): string => `${weightPrefix}${owner}`;
const weightPrefix = "weight=";
/** A weight that is not set again expires. */
const weightTtlSeconds = 3_600;
/** The end of a block is kept for a day, because what the quota held back may run for hours afterwards and is not late. */
const endedTtlSeconds = 86_400;

/** For delivery, which counts usage. A block ends when its time is over, even if delivery does not unblock the owner. */
export function createOwnerLimits(connection: Connection) {
  const entries = entriesOf(connection);
  return {
    /** Owners that are blocked at this time. NATS lists at most 1,024 entries, including weights, and otherwise none. */
    list: async (nowMs: number): Promise<readonly string[]> => {
      const found = await entries.readAll("*").catch((error: unknown) => {
        if (error instanceof Error && error.message === "too many results") return new Map<string, number>();
        throw error;
      });
      return [...found].flatMap(([key, untilMs]) => (key.startsWith(weightPrefix) || untilMs <= nowMs ? [] : [key]));
    },
    block: async (owner: string, untilMs: number): Promise<void> => {
      const leftSeconds = Math.max(0, Math.ceil((untilMs - Date.now()) / 1_000));
      await entries.put(owner, untilMs, { ttlSeconds: leftSeconds + endedTtlSeconds });
    },
    unblock: async (owner: string, nowMs: number): Promise<void> => {
      await entries.put(owner, nowMs, { ttlSeconds: endedTtlSeconds });
    },
    /** Expires after an hour. */
    setWeight: async (owner: string, weight: number): Promise<void> => {
      await entries.put(weightKey(owner), weight, { ttlSeconds: weightTtlSeconds });
    },
    removeWeight: async (owner: string): Promise<void> => {
      await entries.delete(weightKey(owner));
    },
  };
}

/** For runners, which read single owners and may not create consumers. `onChange` with undefined: changes may have been missed. */
export function readOverQuota(connection: Connection) {
  const entries = entriesOf(connection);
  return {
    blockedUntil: (owner: string): Promise<number | undefined> => entries.get(owner),
    onChange: (changed: (owner: string | undefined) => void): Promise<Stoppable> => followChanges(connection, buckets.quotas, "*", changed),
  };
}

/** For runners: the weight of an owner; undefined means 1. */
export function readWeights(connection: Connection) {
  const entries = entriesOf(connection);
  return {
    weightOf: (owner: string): Promise<number | undefined> => entries.get(weightKey(owner)),
    onChange: (changed: (owner: string | undefined) => void): Promise<Stoppable> =>
      followChanges(connection, buckets.quotas, "*", (key) => {
        if (key === undefined) changed(undefined);
        else if (key.startsWith(weightPrefix)) changed(key.slice(weightPrefix.length));
      }),
  };
}

/** For the ingress, which must decide without waiting: the ends of the blocks of all owners, followed. */
export async function followOverQuota(connection: Connection): Promise<Stoppable & { readonly blockedUntil: (owner: string) => number }> {
  const untils = new Map<string, number>();
  const reading = await entriesOf(connection).watch({
    initial: true,
    onEntry: (owner, untilMs) => {
      if (untilMs === undefined || untilMs <= Date.now()) untils.delete(owner);
      else untils.set(owner, untilMs);
    },
  });
  return { blockedUntil: (owner) => untils.get(owner) ?? 0, stop: () => reading.stop() };
}
