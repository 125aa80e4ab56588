/**
 * The events of other sources that a source has recently run, by delivery, newest last. NATS knows each for two minutes and forgets
 * runs if it is killed, so the delivery role may deliver them again. Bounded by number instead of time, so that it works after any
 * downtime: only the last deliveries can be repeated.
 */
export type ProcessedEvents = readonly string[];

/** At most 4 KB of a commit. */
export const maxProcessedEvents = 256;

export function hasProcessed(processed: ProcessedEvents | undefined, delivery: string | undefined): boolean {
  return delivery !== undefined && processed?.includes(delivery) === true;
}

export function addProcessed(processed: ProcessedEvents = [], delivery: string): ProcessedEvents {
  return [...processed.slice(-(maxProcessedEvents - 1)), delivery];
}
