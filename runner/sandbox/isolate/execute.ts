import type { LogRecord } from "../../../domain/run-products.ts";
import type { ActiveContexts } from "./active-contexts.ts";
import type { Ending } from "./activity.ts";
import type { GuestContext } from "./context.ts";
import type { IsolateKind, Nursery } from "./spare-isolates.ts";
import type { ExecuteRequest, Execution, Listeners } from "../port.ts";
import { repeatedRequest } from "../repeated-request.ts";
import { ProductCollector } from "./products.ts";
import type { WarmSource } from "./shared-isolate.ts";
import type { WarmIsolates } from "./warm-isolates.ts";

/** What all executions of a child share. */
export interface ExecutionRoom {
  readonly warm: WarmIsolates;
  readonly nursery: Nursery;
  /** Contexts in which something happens now, for the watch on CPU time. */
  readonly active: ActiveContexts;
  /** Gets each line of a log when it is written. Absent: the outcome of the run has them. */
  readonly onLog?: ((record: LogRecord) => void) | undefined;
}

/** What the parent knows of an execution, and hears of it. */
export interface RunInProgress extends Listeners {
  /** The parent's number of it. */
  readonly id: number;
}

type Attempt = Execution | "interrupted";

/**
 * Runs one request in the source's warm context, or in a new one that stays if it may.
 *
 * Sources of one owner and bundle share an isolate. If another source has it disposed, this run is repeated in an isolate of its own.
 *
 * @param isApart whether the source gets an isolate of its own at once
 */
export async function execute(request: ExecuteRequest, isApart: boolean, room: ExecutionRoom, run: RunInProgress): Promise<Execution> {
  if (request.entry === "configure") return settled(await call(request, room, run));
  // An error on the way to the run, too, may be due to the isolate: if not, the second attempt throws it again.
  const first = isApart ? "interrupted" : await attempt(request, sharedKey(request), room, run).catch(() => "interrupted" as const);
  if (first !== "interrupted") return first;
  const again = isApart ? request : repeatedRequest(request);
  return settled(await attempt(again, ownKey(again), room, run));
}

/** What sources must have in common to share an isolate. */
function sharedKey({ owner, bundle, limits: { memoryMb } }: ExecuteRequest): string {
  return JSON.stringify([owner, bundle.hash, bundle.needsNode, memoryMb]);
}

function ownKey(request: ExecuteRequest): string {
  return `${sharedKey(request)} ${request.source}`;
}

function settled(attempt: Attempt): Execution {
  return attempt === "interrupted" ? { outcome: "crashed", message: "its isolate was disposed" } : attempt;
}

async function attempt(request: ExecuteRequest, key: string, room: ExecutionRoom, run: RunInProgress): Promise<Attempt> {
  const products = new ProductCollector(request.action !== undefined, room.onLog);
  const startedAt = performance.now();
  const warm = room.warm.take(request.source, request.revision, key) ?? (await warmUp(request, key, room, products, run));
  if ("ending" in warm) return toExecution(warm.ending, products, request, performance.now() - startedAt, warm.cpuMs);
  const { context } = warm;
  for (const record of warm.loadLogs) products.addLog([record.k, record.msg, record.ts]);
  warm.loadLogs = [];
  const cpuMsBefore = warm.runs === 0 ? 0 : context.cpuMs();
  const timeLeftMs = Math.max(1, request.limits.timeoutMs - (performance.now() - startedAt));
  const perform = (): Promise<Ending> => context.perform("run", runArguments(request), timeLeftMs, products, run.onResponse);
  const ending = await watched(context, room, run, perform);
  warm.runs += 1;
  room.warm.keep(warm);
  if (warm.runs === 1 && !context.isSpent) void context.isolate.cacheBundle(request.bundle); // Never rejects.
  return toExecution(ending, products, request, performance.now() - startedAt, context.cpuMs() - cpuMsBefore);
}

function runArguments({
  entry,
  event,
  metadata,
  props,
  db,
  endpoint,
  additionalProps = [],
  action,
  stores,
  files,
}: ExecuteRequest): readonly unknown[] {
  return [
    entry,
    event,
    props,
    db,
    endpoint,
    JSON.stringify(additionalProps),
    metadata,
    action && { secretProps: [], variables: "{}", ...action },
    stores && Object.keys(stores.byProp),
    // The guest asks for the list of the files only if there are some.
    action && files && files.layers.length > 0,
  ];
}

interface FailedLoad {
  readonly ending: Ending;
  readonly cpuMs: number;
}

async function warmUp(
  request: ExecuteRequest,
  key: string,
  room: ExecutionRoom,
  products: ProductCollector,
  { id }: RunInProgress,
): Promise<WarmSource | FailedLoad> {
  const opened = await room.warm.open(key, kindOf(request), request.owner);
  const { context } = opened;
  const loading = new ProductCollector();
  const ending = await load(request, context, room, { id }, loading).catch((error: unknown) => {
    room.warm.close(opened);
    throw error;
  });
  const { logs } = loading.products(0, 0);
  if (ending.outcome === "done") return room.warm.add(opened, request.source, request.revision, logs);
  for (const record of logs) products.addLog([record.k, record.msg, record.ts]);
  room.warm.close(opened);
  return { ending, cpuMs: context.cpuMs() };
}

/** `options` or `additionalProps`, in an isolate that ends with the call. */
async function call(request: ExecuteRequest, room: ExecutionRoom, run: RunInProgress): Promise<Attempt> {
  const products = new ProductCollector();
  const startedAt = performance.now();
  const {
    event,
    props,
    endpoint,
    additionalProps = [],
    limits: { timeoutMs },
  } = request;
  const context = await room.nursery.take(kindOf(request), request.owner);
  try {
    let ending = await load(request, context, room, { id: run.id }, products);
    if (ending.outcome === "done") {
      const timeLeftMs = Math.max(1, timeoutMs - (performance.now() - startedAt));
      const args = [event, props, endpoint, JSON.stringify(additionalProps)];
      ending = await watched(context, room, run, () => context.perform("configure", args, timeLeftMs, products, run.onResponse));
    }
    return toExecution(ending, products, request, performance.now() - startedAt, context.cpuMs());
  } finally {
    context.isolate.dispose();
  }
}

function kindOf({ bundle, limits: { memoryMb } }: ExecuteRequest): IsolateKind {
  return { needsNode: bundle.needsNode, memoryMb };
}

function load(
  { bundle, environment, limits: { timeoutMs } }: ExecuteRequest,
  context: GuestContext,
  room: ExecutionRoom,
  run: RunInProgress,
  products: ProductCollector,
): Promise<Ending> {
  return watched(context, room, run, () => context.load(bundle, environment, timeoutMs, products));
}

export async function watched(
  context: GuestContext,
  room: ExecutionRoom,
  { id, onPause }: RunInProgress,
  act: () => Promise<Ending>,
): Promise<Ending> {
  const active = { context, cpuMsBefore: context.cpuMs(), since: performance.now(), onPause };
  room.active.add(active);
  context.execution = id;
  try {
    return await act();
  } finally {
    context.execution = undefined;
    room.active.delete(active);
  }
}

function toExecution(ending: Ending, products: ProductCollector, request: ExecuteRequest, durationMs: number, cpuMs: number): Attempt {
  if (ending.outcome === "interrupted") return "interrupted";
  const dbError = products.checkDb(request.db);
  const hasReturned = ending.outcome === "done" && dbError === undefined;
  const made = products.products(Math.round(durationMs), Math.max(0, Math.round(cpuMs * 1000) / 1000), hasReturned);
  if (ending.outcome !== "done") return { ...ending, ...made };
  if (dbError !== undefined) return { outcome: "threw", error: dbError, ...made };
  return { outcome: "returned", result: ending.value, ...made };
}
