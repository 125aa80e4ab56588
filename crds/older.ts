import type { Resource } from "./resource.ts";

/** Of several resources that say the same, the oldest counts. */
export const isOlder = ({ metadata: a }: Resource, { metadata: b }: Resource): boolean =>
  a.creationTimestamp === b.creationTimestamp ? a.uid < b.uid : a.creationTimestamp < b.creationTimestamp;
