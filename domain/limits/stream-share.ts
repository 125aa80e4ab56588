export interface StreamUsage {
  readonly bytes: number;
  /** Intended maximum. */
  readonly maxBytes: number;
}

/**
 * Bytes that one owner may hold in a stream that all owners share:
 *
 * | the stream is | an owner may hold |
 * |---|---|
 * | at most half full, or without a limit | any number of bytes |
 * | above half full | a quarter of the stream |
 * | full | a thirty-second of it |
 *
 * So the owner who holds most is refused first, and others still have room in a full stream.
 */
export function ownerShareBytes(usage: StreamUsage | undefined): number {
  if (usage === undefined || usage.maxBytes <= 0 || usage.bytes <= usage.maxBytes / 2) return Number.POSITIVE_INFINITY;
  return usage.bytes <= usage.maxBytes ? usage.maxBytes / 4 : usage.maxBytes / 32;
}
