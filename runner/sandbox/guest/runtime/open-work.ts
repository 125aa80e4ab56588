/**
 * Work outside of the isolate that a run has started: requests, timers, connections. Work still open at the end of the run is dropped,
 * which is nearly always a missing `await`; the run's log then names it and where it was started.
 */
export interface OpenWork {
  readonly what: string;
  /** Created for its stack, which V8 formats only when read. */
  readonly from: Error;
}

const maxListed = 10;
const maxFrames = 6;
const maxWhat = 200;

const { apply } = Reflect;
const NativeError = Error;
const NativeString = String;
const slice = String.prototype.slice;
const split = String.prototype.split;
const includes = String.prototype.includes;
const setAdd = Set.prototype.add;
const setDelete = Set.prototype.delete;
const setClear = Set.prototype.clear;
const setForEach = Set.prototype.forEach;
const sizeOf = Object.getOwnPropertyDescriptor(Set.prototype, "size")?.get as () => number;

const open = new Set<OpenWork>();

export function beginWork(what: string): OpenWork {
  const work = { what, from: new NativeError() };
  apply(setAdd, open, [work]);
  return work;
}

/** Ending work twice, or work that never began, is no error. */
export function endWork(work: OpenWork | undefined): void {
  if (work !== undefined) apply(setDelete, open, [work]);
}

export function forgetWork(): void {
  apply(setClear, open, []);
}

/** Log text about open work; undefined if there is none. */
export function describeOpenWork(): string | undefined {
  const count = apply(sizeOf, open, []) as number;
  if (count === 0) return undefined;
  let lines = "";
  let listed = 0;
  apply(setForEach, open, [
    ({ what, from }: OpenWork) => {
      listed += 1;
      if (listed <= maxListed) lines += `\n- ${apply(slice, what, [0, maxWhat]) as string}${framesOf(from)}`;
    },
  ]);
  if (count > maxListed) lines += `\n- and ${count - maxListed} more`;
  return `lost_work: the run ended while this was still under way, and it is dropped; await all promises in run:${lines}`;
}

/** The frames of the component, and of packages in its bundle. */
function framesOf(error: Error): string {
  const lines = apply(split, stackOf(error), ["\n"]) as string[];
  let frames = "";
  let count = 0;
  for (let index = 0; index < lines.length && count < maxFrames; index++) {
    if (!apply(includes, lines[index], ["component.js:"])) continue;
    count += 1;
    frames += `\n${lines[index]}`;
  }
  return frames;
}

/** Formatting may call a `prepareStackTrace` of the component's. */
function stackOf(error: Error): string {
  try {
    return NativeString(error.stack);
  } catch {
    return "";
  }
}
