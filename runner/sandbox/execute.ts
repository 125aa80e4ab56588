import type { HttpResponse, RunError } from "../../domain/invocation.ts";
import type { Ending } from "./activity.ts";
import { findCodeCache, keepCodeCache, readBundle } from "./bundle-cache.ts";
import type { GuestIsolate } from "./isolate.ts";
import { limits } from "./limits.ts";
import type { Nursery } from "./nursery.ts";
import type { ExecuteRequest, Execution } from "./port.ts";
import { ProductCollector } from "./products.ts";
import { limitError } from "./run-error.ts";
import type { WarmIsolate, WarmIsolates } from "./warm-isolates.ts";

/** What all executions of a child share. */
export interface ExecutionRoom {
  readonly warm: WarmIsolates;
  readonly nursery: Nursery;
  /** Isolates in which something happens now, for the watch on CPU time. */
  readonly active: Set<ActiveIsolate>;
}

export interface ActiveIsolate {
  readonly guest: GuestIsolate;
  readonly cpuMsBefore: number;
  /** Epoch of the process, ms. */
  readonly since: number;
  /** Told once when nothing computes in it, see `tellPauses`. */
  onPause: (() => void) | undefined;
}

/** Until then it is not worth telling that a run waits: mostly it is over. */
const freshMs = 50;
/** Compiling less than this is quicker than making a cache of it; characters. */
const worthCaching = 8 * 1024;

/** Runs one request: in the source's warm isolate, or in a new one that stays if it may. */
export async function execute(
  request: ExecuteRequest,
  room: ExecutionRoom,
  onResponse?: (response: HttpResponse) => void,
  onPause?: () => void,
): Promise<Execution> {
  const products = new ProductCollector();
  const startedAt = performance.now();
  const isCall = request.entry === "configure";
  const warm = isCall ? undefined : room.warm.take(request.source, request.revision);
  const taken = warm ?? (await warmUp(request, room, products));
  if ("ending" in taken) return toExecution(taken.ending, products, request, performance.now() - startedAt, taken.cpuMs);
  for (const record of taken.loadLogs) products.addLog([record.k, record.msg, record.ts]);
  taken.loadLogs = [];
  const cpuMsBefore = taken.runs === 0 ? 0 : taken.guest.cpuMs();
  const timeLeftMs = Math.max(1, request.limits.timeoutMs - (performance.now() - startedAt));
  const perform = (): Promise<Ending> =>
    taken.guest.perform(isCall ? "configure" : "run", argumentsOf(request), timeLeftMs, products, onResponse);
  const ending = await watched(taken.guest, room, perform, onPause);
  taken.runs += 1;
  const execution = toExecution(ending, products, request, performance.now() - startedAt, taken.guest.cpuMs() - cpuMsBefore);
  if (isCall) room.warm.drop(taken);
  else await release(taken, request, room);
  return execution;
}

function argumentsOf({ entry, event, metadata, props, db, endpoint, additionalProps = [] }: ExecuteRequest): readonly unknown[] {
  const additional = JSON.stringify(additionalProps);
  return entry === "configure" ? [event, props, endpoint, additional] : [entry, event, props, db, endpoint, additional, metadata];
}

interface FailedLoad {
  readonly ending: Ending;
  readonly cpuMs: number;
}

async function warmUp(request: ExecuteRequest, room: ExecutionRoom, products: ProductCollector): Promise<WarmIsolate | FailedLoad> {
  const { bundle } = request;
  const [code, guest] = await Promise.all([
    readBundle(bundle),
    room.nursery.take({ needsNode: bundle.needsNode, memoryMb: request.limits.memoryMb }),
  ]);
  guest.owner = request.owner;
  const loading = new ProductCollector();
  const ending = await watched(guest, room, () =>
    guest.load(code, findCodeCache(bundle), request.environment, request.limits.timeoutMs, loading),
  );
  const { logs } = loading.products(0, 0);
  if (ending.outcome !== "done") {
    for (const record of logs) products.addLog([record.k, record.msg, record.ts]);
    guest.dispose();
    return { ending, cpuMs: guest.cpuMs() };
  }
  const { source, revision } = request;
  const warm: WarmIsolate = {
    source,
    revision,
    guest,
    codeLength: code.length,
    loadLogs: logs,
    runs: 0,
    busy: true,
    bytes: 0,
    lastUsedAt: 0,
    restingCpuMs: 0,
    isCollected: false,
  };
  room.warm.add(warm);
  return warm;
}

export async function watched(guest: GuestIsolate, room: ExecutionRoom, act: () => Promise<Ending>, onPause?: () => void): Promise<Ending> {
  const active: ActiveIsolate = { guest, cpuMsBefore: guest.cpuMs(), since: performance.now(), onPause };
  room.active.add(active);
  try {
    return await act();
  } finally {
    room.active.delete(active);
  }
}

/** Memory is asked for after the first run and now and then: asking enters the isolate. */
async function release(warm: WarmIsolate, { bundle }: ExecuteRequest, room: ExecutionRoom): Promise<void> {
  if (warm.guest.isSpent) return room.warm.drop(warm);
  if (warm.runs > 1 && warm.runs % 50 !== 0) return room.warm.keep(warm, warm.bytes);
  const bytes = await warm.guest.heapBytes().catch(() => warm.bytes);
  warm.isCollected = false;
  if (warm.runs === 1 && warm.codeLength > worthCaching && findCodeCache(bundle) === undefined) {
    keepCodeCache(
      bundle,
      await readBundle(bundle)
        .then((code) => warm.guest.codeCache(code))
        .catch(() => undefined),
    );
  }
  room.warm.keep(warm, bytes);
}

function toExecution(ending: Ending, products: ProductCollector, request: ExecuteRequest, durationMs: number, cpuMs: number): Execution {
  const dbError = products.checkDb(request.db);
  const made = products.products(Math.round(durationMs), Math.max(0, Math.round(cpuMs * 1000) / 1000));
  if (ending.outcome !== "done") return { ...ending, ...made };
  if (dbError !== undefined) return { outcome: "threw", error: dbError, ...made };
  return { outcome: "returned", result: ending.value, ...made };
}

/** Ends runs that have used up their CPU time, however often they paused. */
export function enforceCpuLimit(active: Iterable<ActiveIsolate>): void {
  for (const { guest, cpuMsBefore } of active) {
    if (guest.cpuMs() - cpuMsBefore > limits.cpuMs) guest.limit(cpuError());
  }
}

/** Tells of runs that have lasted a moment and wait for somebody else, to the one who lets no more of their owner's begin meanwhile. */
export function tellPauses(active: Iterable<ActiveIsolate>): void {
  const begunBefore = performance.now() - freshMs;
  for (const isolate of active) {
    if (isolate.onPause === undefined || isolate.since > begunBefore || isolate.guest.isComputing) continue;
    isolate.onPause();
    isolate.onPause = undefined;
  }
}

function cpuError(): RunError {
  return limitError("cpu_limit", `the run used more than ${limits.cpuMs} ms of CPU time, the limit`);
}
