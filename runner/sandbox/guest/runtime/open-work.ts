/**
 * Work outside of the isolate that a run has started: requests, timers, connections. What is still open when the run ends is dropped,
 * which is nearly always a missing `await`; the run's log then names it and where it was started.
 */
export interface OpenWork {
  readonly what: string;
  /** Made for its stack, which V8 formats only when it is read. */
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

/** Ended twice, or never begun, is no error. */
export function endWork(work: OpenWork | undefined): void {
  if (work !== undefined) apply(setDelete, open, [work]);
}

export function forgetWork(): void {
  apply(setClear, open, []);
}

/** What the log says of the work that is open now; undefined when there is none. */
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
