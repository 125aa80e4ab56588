const dateNow = Date.now;

/** When the isolate was made ready, in ms since the epoch: the time origin of `performance`, which is loaded later. */
export const timeOrigin = dateNow();

export function sinceStart(): number {
  return dateNow() - timeOrigin;
}
