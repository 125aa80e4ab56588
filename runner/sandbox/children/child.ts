import { readFile } from "node:fs/promises";
import ivm from "isolated-vm";
import type { HttpResponse } from "../../../domain/invocation/invocation.ts";
import { FairSemaphore } from "../../../domain/limits/fair-semaphore.ts";
import { createEgress } from "../../../platform/http/egress.ts";
import { batched } from "./batch.ts";
import { type ActiveContext, enforceCpuLimit, execute, type ExecutionRoom, reportPauses } from "../isolate/execute.ts";
import { inspect } from "../isolate/inspect.ts";
import { limits } from "../limits.ts";
import type { Egress } from "../operations/index.ts";
import { Nursery } from "../isolate/spare-isolates.ts";
import { makeCaches, type Prelude } from "../isolate/prelude.ts";
import { cachePath, type ChildOptions, type FromChild, type PreludeCaches, type ToChild } from "./protocol.ts";
import { WarmIsolates } from "../isolate/warm-isolates.ts";

/**
 * The program of a child process. It can be killed at any moment, and kills itself rather than exit, since process.exit hangs after V8
 * has run out of memory in an isolate. It ends with its parent.
 */
const send = batched<FromChild>((messages) => {
  // Without a parent this process is about to end.
  if (process.connected) process.send?.(messages, undefined, undefined, () => {});
});
/** Work that arrives before the start is done waits for this. */
const started = Promise.withResolvers<ExecutionRoom>();
let room: ExecutionRoom | undefined;
const executions = new FairSemaphore({
  permits: limits.executionsAtOnce,
  permitsPerKey: limits.executionsOfOwner,
  alone: { permits: limits.executionsOfLoneOwner, now: () => performance.now() },
});

process.on("disconnect", die);
process.on("SIGTERM", () => {});
process.on("SIGINT", () => {});
// An operation of the host failed outside of any run. Let the runs in flight end, then have this process replaced.
process.on("uncaughtException", (error) => {
  complain("uncaught", error);
  send({ kind: "poisoned", reason: `an uncaught ${error.name}` });
});
process.on("message", (messages: readonly ToChild[]) => {
  for (const message of messages) receive(message);
});

function receive(message: ToChild): void {
  switch (message.kind) {
    case "start":
      start(message.options).catch((error: unknown) => {
        complain("cannot start", error);
        die();
      });
      return;
    case "execute":
      return void perform(message.id, message);
    case "inspect":
      return void perform(message.id, message);
    case "evict":
      return room?.warm.evict(message.source);
    case "ping":
      return send({ kind: "pong", warm: room?.warm.count ?? { isolates: 0, sources: 0 }, evictions: room?.warm.takeEvictions() ?? 0 });
  }
}

async function perform(id: number, message: Extract<ToChild, { id: number }>): Promise<void> {
  const { owner = "" } = message.request;
  await executions.acquire(owner);
  try {
    const ready = room ?? (await started.promise);
    if (message.kind === "inspect") return send({ kind: "inspected", id, inspection: await inspect(message.request, ready) });
    const listeners = {
      onPause: () => send({ kind: "paused", id }),
      ...(message.wantsResponse && { onResponse: (response: HttpResponse) => send({ kind: "response", id, response }) }),
    };
    send({ kind: "executed", id, execution: await execute(message.request, message.isApart, ready, listeners) });
  } catch (error) {
    const reason = `the sandbox could not run it: ${error instanceof Error ? error.message : String(error)}`;
    if (message.kind === "inspect")
      send({ kind: "inspected", id, inspection: { outcome: "rejected", code: "sandbox_error", message: reason } });
    else send({ kind: "executed", id, execution: { outcome: "crashed", message: reason } });
  } finally {
    executions.release(owner);
  }
}

async function start(options: ChildOptions): Promise<void> {
  const { prelude, caches } = await loadPrelude(options);
  const active = new Set<ActiveContext>();
  const nursery = new Nursery({
    prelude,
    egress: toEgress(options.egressAllow),
    slots: new FairSemaphore({
      permits: limits.entriesAtOnce,
      permitsPerKey: limits.entriesOfOwner,
      alone: { permits: limits.entriesOfLoneOwner, now: () => performance.now() },
    }),
    onPoisoned: (reason) => send({ kind: "poisoned", reason }),
  });
  const warm = new WarmIsolates(nursery, options.memoryBudgetBytes);
  room = { warm, active, nursery };
  started.resolve(room);
  setInterval(() => {
    enforceCpuLimit(active);
    warm.sweep();
    if (active.size === 0) void warm.collectOne(); // Only when idle, since it would delay runs. Never rejects.
  }, 250);
  setInterval(() => reportPauses(active), 25);
  send({ kind: "ready", ...(caches && { caches }) });
}

function toEgress(allow: readonly string[]): Egress {
  const policy = createEgress({ allow });
  return { lookup: (host) => policy.resolve(host) };
}

async function loadPrelude(options: ChildOptions): Promise<{ prelude: Prelude; caches: PreludeCaches | undefined }> {
  const [web, node] = await Promise.all([readFile(options.webPath, "utf8"), readFile(options.nodePath, "utf8")]);
  const kept = await readCaches(options);
  const caches = kept ?? (await makeCaches(web, node));
  const prelude = {
    web: { code: web, cachedData: toCopy(caches.web) },
    node: { code: node, cachedData: toCopy(caches.node) },
  };
  return { prelude, caches: kept === undefined ? caches : undefined };
}

async function readCaches(options: ChildOptions): Promise<PreludeCaches | undefined> {
  try {
    const [web, node] = await Promise.all([readFile(cachePath(options.webPath)), readFile(cachePath(options.nodePath))]);
    return { web, node };
  } catch {
    return undefined;
  }
}

function toCopy(bytes: Uint8Array): ivm.ExternalCopy<ArrayBuffer> | undefined {
  return bytes.byteLength === 0 ? undefined : new ivm.ExternalCopy(new Uint8Array(bytes).buffer);
}

/** The parent logs standard error. */
function complain(what: string, error: unknown): void {
  process.stderr.write(`${what}: ${error instanceof Error ? error.stack : String(error)}\n`);
}

function die(): void {
  process.kill(process.pid, "SIGKILL");
}
