import type { StreamInfo } from "@nats-io/jetstream";

/** In the metadata of a stream that was restored: the identity of the one that was saved. */
export const formerCreation = "headwater-created";

/** Tells a stream from another of that name, which counted from 1 as well: its creation time, which a restored stream keeps. */
export const identityOf = ({ config, created }: Pick<StreamInfo, "config" | "created">): string =>
  config.metadata?.[formerCreation] ?? String(created);
