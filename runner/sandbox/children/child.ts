import { readFile } from "node:fs/promises";
import { Socket } from "node:net";
import ivm from "isolated-vm";
import type { HttpResponse } from "../../../domain/run-products.ts";
import { FairSemaphore } from "../../../domain/limits/fair-semaphore.ts";
import { createEgress } from "../../../platform/http/egress.ts";
import { batched } from "./batch.ts";
import { childNetwork } from "./child-network.ts";
import { ParentNetwork } from "./parent-network.ts";
import { cachePath } from "./code-caches.ts";
import { encodeFrame, readFrames } from "../frames.ts";
import { execute, type ExecutionRoom } from "../isolate/execute.ts";
import { ActiveContexts } from "../isolate/active-contexts.ts";
import { inspect } from "../isolate/inspect.ts";
import { DebugMessages } from "../isolate/debug-session.ts";
import { hideMemory } from "../jail/kernel.ts";
import { limits } from "../limits.ts";
import { Nursery } from "../isolate/spare-isolates.ts";
import type { SharedNetwork } from "../operations/network/network.ts";
import { makeCaches, type Prelude } from "../isolate/prelude.ts";
import { type ChildOptions, debuggedChildLimits, type FromChild, type ToChild, toChildLimits } from "./protocol.ts";
import { channelDescriptor } from "../jail/profiles.ts";
import { WarmIsolates } from "../isolate/warm-isolates.ts";

/**
 * The program of a child process. It can be killed at any moment, and kills itself rather than exit, since process.exit hangs after V8
 * has run out of memory in an isolate. It ends with its parent.
 */
hideMemory();
const channel = new Socket({ fd: channelDescriptor });
const write = batched<Buffer>((frames) => channel.write(Buffer.concat(frames)));
const send = (message: FromChild): void => write(encodeFrame(debuggedChildLimits, message));
const threads = Number(process.env["UV_THREADPOOL_SIZE"]);
/** Work that arrives before the start is done waits for this. */
const started = Promise.withResolvers<ExecutionRoom>();
let room: ExecutionRoom | undefined;
let isPoisoned = false;
const parentNetwork = new ParentNetwork(send);
const debug = new DebugMessages((message) => send({ kind: "debug", message }));
const executions = new FairSemaphore({
  permits: limits.executionsAtOnce,
  permitsPerKey: limits.executionsOfOwner,
  alone: { permits: limits.executionsOfLoneOwner, now: () => performance.now() },
});

channel.on("error", die).on("close", die);
process.on("SIGTERM", () => {});
process.on("SIGINT", () => {});
// An operation of the host failed outside of any run. Let the runs in flight end, then have this process replaced.
process.on("uncaughtException", (error) => {
  complain("uncaught", error);
  poison(`an uncaught ${error.name}`);
});
readFrames(channel, toChildLimits, {
  // Our own process sent it.
  onFrame: ({ kind, text }) => receive({ kind, ...(JSON.parse(text) as object) } as ToChild),
  onViolation: die,
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
    case "opened":
    case "resolved":
    case "stored":
    case "filed":
    case "taken":
    case "refused":
      return parentNetwork.receive(message);
    case "debug":
      return debug.receive(message.message);
    case "evict":
      return room?.warm.evict(message.source);
    case "ping":
      return send({ kind: "pong", warm: room?.warm.count ?? { isolates: 0, sources: 0 }, evictions: room?.warm.takeEvictions() ?? 0 });
  }
}

async function perform(id: number, message: Extract<ToChild, { kind: "execute" | "inspect" }>): Promise<void> {
  const { owner = "" } = message.request;
  await executions.acquire(owner);
  try {
    const ready = room ?? (await started.promise);
    if (message.kind === "inspect") return send({ kind: "inspected", id, inspection: await inspect(message.request, ready, id) });
    const run = {
      id,
      // A run that is repeated in this process pauses and responds again.
      onPause: once(() => send({ kind: "paused", id })),
      ...(message.wantsResponse && { onResponse: once((response: HttpResponse) => send({ kind: "response", id, response })) }),
    };
    send({ kind: "executed", id, execution: await execute(message.request, message.isApart, ready, run) });
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
  const prelude = await loadPrelude(options);
  const active = new ActiveContexts();
  const nursery = new Nursery({
    prelude,
    // Where the parent cannot pass sockets, this process obeys the policy itself.
    network: options.egress === undefined ? parentNetwork : networkOfOwn(options.egress),
    slots: new FairSemaphore({
      permits: limits.entriesAtOnce,
      permitsPerKey: limits.entriesOfOwner,
      alone: { permits: limits.entriesOfLoneOwner, now: () => performance.now() },
    }),
    timeLimits: options.timeLimits,
    onPoisoned: poison,
    debugger: options.debug?.waits === true ? debug : undefined,
  });
  const warm = new WarmIsolates(nursery, options.memoryBudgetBytes);
  room = { warm, active, nursery, ...(options.debug && { onLog: (record) => send({ kind: "log", record }) }) };
  started.resolve(room);
  setInterval(() => {
    active.enforceCpuLimit(options.timeLimits.cpuMs);
    warm.sweep();
    if (active.size === 0) void warm.collectOne(); // Only when idle, since it would delay runs. Never rejects.
  }, 250);
  send({ kind: "ready" });
}

/** The parent performs what is asked of data stores, files and callers in any case. */
function networkOfOwn(policy: NonNullable<ChildOptions["egress"]>): SharedNetwork {
  return {
    ...childNetwork(createEgress(policy), threads),
    askStore: (...call) => parentNetwork.askStore(...call),
    askFiles: (...call) => parentNetwork.askFiles(...call),
    sendPiece: (...piece) => parentNetwork.sendPiece(...piece),
  };
}

async function loadPrelude({ webPath, nodePath }: ChildOptions): Promise<Prelude> {
  const [web, node] = await Promise.all([readFile(webPath, "utf8"), readFile(nodePath, "utf8")]);
  const caches = (await readCaches(webPath, nodePath)) ?? (await makeCaches(web, node));
  return {
    web: { code: web, cachedData: toCopy(caches.web) },
    node: { code: node, cachedData: toCopy(caches.node) },
  };
}

async function readCaches(webPath: string, nodePath: string): Promise<{ readonly web: Uint8Array; readonly node: Uint8Array } | undefined> {
  try {
    const [web, node] = await Promise.all([readFile(cachePath(webPath)), readFile(cachePath(nodePath))]);
    return { web, node };
  } catch {
    return undefined;
  }
}

/** Passes on the first call alone. */
function once<Args extends readonly unknown[]>(action: (...args: Args) => void): (...args: Args) => void {
  let isDone = false;
  return (...args) => {
    if (!isDone) action(...args);
    isDone = true;
  };
}

function poison(reason: string): void {
  if (!isPoisoned) send({ kind: "poisoned", reason });
  isPoisoned = true;
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
