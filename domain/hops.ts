/**
 * Sources that hear each other may go round in a circle. Each event carries how many deliveries to sources led to it; a run
 * that would be one too many is not run but answered with an error, which listeners of `$errors` hear like any other.
 */
export const mostHops = 100;

/** Whether an invocation of that many hops must not be run. */
export const isTooFar = (hops: number): boolean => hops > mostHops;

/**
 * Hops of what a source hears of an event. Undefined: it hears nothing, because the event tells of a run that went too far;
 * else two sources that listen to each other's `$errors` would go round all the same.
 */
export const nextHop = (hops: number): number | undefined => (isTooFar(hops) ? undefined : hops + 1);
