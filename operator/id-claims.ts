import { LRUCache } from "lru-cache";

/** Longer than a pass takes from choosing an id until its status is in the caches. */
const claimMs = 60_000;
const maxClaims = 10_000;

/** @returns false if another resource, by uid, has claimed the id of the kind within the last minute */
export type ClaimId = (kind: string, id: string, uid: string) => boolean;

/** Two passes that run at once must not give one id to two resources: neither finds it in a status yet. */
export function createIdClaims(): ClaimId {
  const claims = new LRUCache<string, string>({ max: maxClaims, ttl: claimMs });
  return (kind, id, uid) => {
    const key = `${kind} ${id}`;
    const holder = claims.get(key);
    if (holder !== undefined && holder !== uid) return false;
    claims.set(key, uid);
    return true;
  };
}
