/** Seconds between polls when the user of a source chooses none. */
export const DEFAULT_POLLING_SOURCE_TIMER_INTERVAL = 900;
