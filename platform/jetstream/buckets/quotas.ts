import { z } from "zod";
import { buckets } from "../../../domain/subjects.ts";
import { Bucket } from "./bucket.ts";
import { followChanges } from "./bucket-changes.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";

/** Until when the quota of an owner is used up, epoch ms, by the owner's id. */
const entriesOf = (connection: Connection): Bucket<number> => new Bucket(connection, buckets.quotas, (json) => z.number().parse(json));

/** Beside them how much owners weigh who do not weigh 1, by this key: it is one token, as an owner's id is. */
const weightKey = (owner: string): string => `${weightPrefix}${owner}`;
const weightPrefix = "weight=";
/** A weight that nobody tells again any more ends by itself. */
const weightTtlSeconds = 3_600;

/** For the one who counts. An entry ends by itself when its time has come, should nobody withdraw it. */
export function createOwnerLimits(connection: Connection) {
  const entries = entriesOf(connection);
  return {
    /** The server lists at most 1,024 entries, weights among them, and else none. */
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
    /** Good for an hour. */
    setWeight: async (owner: string, weight: number): Promise<void> => {
      await entries.put(weightKey(owner), weight, { ttlSeconds: weightTtlSeconds });
    },
    removeWeight: async (owner: string): Promise<void> => {
      await entries.delete(weightKey(owner));
    },
  };
}

/** For runners, which may ask of an owner by name, and hear of changes without a consumer; `undefined`: some may have been missed. */
export function readOverQuota(connection: Connection) {
  const entries = entriesOf(connection);
  return {
    blockedUntil: (owner: string): Promise<number | undefined> => entries.get(owner),
    onChange: (changed: (owner: string | undefined) => void): Promise<Stoppable> => followChanges(connection, buckets.quotas, "*", changed),
  };
}

/** For runners: how much an owner weighs, if not 1. */
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

/** For the ingress, which must know at once: everybody's, followed. */
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
