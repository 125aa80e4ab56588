/**
 * Which events of other sources a source has run with lately, by their deliveries, newest last. The message server knows each of them for
 * two minutes, and forgets those that were run when it is killed; whoever delivers may hand them over again after that. Bounded by
 * number and not by time, so that it holds however long somebody was away: a delivery comes again only when it is among the last ones.
 */
export type Heard = readonly string[];

/** In a commit that is 4 KB at most. */
export const mostHeard = 256;

export function hasHeard(heard: Heard | undefined, delivery: string | undefined): boolean {
  return delivery !== undefined && heard?.includes(delivery) === true;
}

export function hear(heard: Heard = [], delivery: string): Heard {
  return [...heard.slice(-(mostHeard - 1)), delivery];
}
