const dateNow = Date.now;

/** When the isolate was made ready, in ms since the epoch: what `performance` counts from, whenever that is first asked for. */
export const timeOrigin = dateNow();

export function sinceStart(): number {
  return dateNow() - timeOrigin;
}
