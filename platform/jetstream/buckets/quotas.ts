import { z } from "zod";
import { buckets } from "../../../domain/subjects.ts";
import { Bucket } from "./bucket.ts";
import { followChanges } from "./bucket-changes.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";

/** Epoch ms until which an owner is blocked because the quota is used up, by the owner's id. */
const entriesOf = (connection: Connection): Bucket<number> => new Bucket(connection, buckets.quotas, (json) => z.number().parse(json));

/** The bucket also holds weights other than 1, under this key: one token, like an owner's id. */
const weightKey = (owner: string): string => `${weightPrefix}${owner}`;
const weightPrefix = "weight=";
/** A weight that is not set again expires. */
const weightTtlSeconds = 3_600;

/** For delivery, which counts usage. A block expires when its time is over, even if it is not removed. */
export function createOwnerLimits(connection: Connection) {
  const entries = entriesOf(connection);
  return {
    /** NATS lists at most 1,024 entries, including weights, and otherwise none. */
    list: async (): Promise<readonly string[]> => {
      const keys = await entries.keys("*").catch((error: unknown) => {
        if (error instanceof Error && error.message === "too many results") return [];
        throw error;
      });
      return keys.filter((key) => !key.startsWith(weightPrefix));
    },
    block: async (owner: string, untilMs: number): Promise<void> => {
      await entries.put(owner, untilMs, { ttlSeconds: Math.max(1, Math.ceil((untilMs - Date.now()) / 1_000)) });
    },
    unblock: async (owner: string): Promise<void> => {
      await entries.delete(owner);
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

/** For the ingress, which must decide without waiting: the blocks of all owners, followed. */
export async function followOverQuota(connection: Connection): Promise<Stoppable & { readonly blockedUntil: (owner: string) => number }> {
  const untils = new Map<string, number>();
  const reading = await entriesOf(connection).watch({
    initial: true,
    onEntry: (owner, untilMs) => {
      if (untilMs === undefined) untils.delete(owner);
      else untils.set(owner, untilMs);
    },
  });
  return { blockedUntil: (owner) => untils.get(owner) ?? 0, stop: () => reading.stop() };
}
