import { type ChildProcess, fork } from "node:child_process";
import type { HttpResponse } from "../../domain/invocation.ts";
import { batched } from "./batch.ts";
import type { Execution, Inspection, InspectRequest, Sandbox } from "./port.ts";
import { ThreadPriorities } from "./priority.ts";
import { mainThreadCpuMs, residentBytesOf } from "./process-usage.ts";
import type { ChildOptions, FromChild, PreludeCaches, ToChild } from "./protocol.ts";
import { limitError } from "./run-error.ts";

export interface ChildSettings {
  /** Its program, see child-script.ts. */
  readonly script: string;
  readonly child: ChildOptions;
  /** Directories and files it may read. */
  readonly readable: readonly string[];
  readonly residentLimitBytes: number;
  readonly onCaches: (caches: PreludeCaches) => void;
  readonly onStderr: (text: string) => void;
  /** So many warm isolates went to make room for others. */
  readonly onEvictions: (count: number) => void;
  /** It takes no more work: start another. Called once. */
  readonly onLost: (reason: string) => void;
  /** All of it computes when others do not want to, even others' isolates. */
  readonly givesWay?: boolean;
}

type Pending =
  | {
      readonly kind: "execute";
      readonly resolve: (execution: Execution) => void;
      readonly onResponse: ((response: HttpResponse) => void) | undefined;
      readonly onPause: (() => void) | undefined;
    }
  | { readonly kind: "inspect"; readonly resolve: (inspection: Inspection) => void };

const heartbeatMs = 1_000;
/** That many without an answer while its thread computes: somebody holds it. */
const missedHeartbeats = 5;
/** That many whatever it does: a machine that is overloaded lets it wait, a start takes its time, but not for ever. */
const missedAtMost = 30;
const drainMs = 4_000;
const statPollMs = 100;

/**
 * The parent's side of one child. It is watched by heartbeat and by the memory it really uses, and killed, never asked to exit.
 * Whatever was in flight then resolves: a child that dies is an outcome.
 */
export class SandboxChild {
  /** Rejects when it ended before it could run anything. */
  readonly ready: Promise<void>;
  readonly #settings: ChildSettings;
  readonly #process: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #send: (message: ToChild) => void;
  readonly #timers: NodeJS.Timeout[];
  readonly #priorities: ThreadPriorities;
  #isolates = 0;
  #residentBytes = 0;
  #nextId = 1;
  #missed = 0;
  /** CPU time of its main thread when it answered last, ms. */
  #cpuMsAtAnswer = 0;
  #lost = false;
  #dead = false;
  /** Why we killed it; and whether the only execution in it is to blame. */
  #death: { readonly code: string; readonly message: string } | undefined;
  readonly #markReady: () => void;
  readonly #failReady: (error: Error) => void;
  #wasReady = false;

  constructor(settings: ChildSettings) {
    this.#settings = settings;
    this.#process = start(settings);
    this.#priorities = new ThreadPriorities(this.#process.pid, settings.givesWay === true);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#markReady = resolve;
    this.#failReady = reject;
    // Whoever waits sees it; nobody has to.
    promise.catch(() => {});
    this.#send = batched<ToChild>((messages) => {
      if (this.#process.connected) this.#process.send(messages.slice(), () => {});
    });
    this.#process.on("message", (messages: readonly FromChild[]) => {
      for (const message of messages) this.#receive(message);
    });
    this.#process.stderr?.setEncoding("utf8").on("data", (text: string) => settings.onStderr(text));
    this.#process.on("error", () => this.kill());
    this.#process.on("exit", (code, signal) => this.#onExit(signal ?? `exit code ${code}`));
    this.#timers = [setInterval(() => this.#beat(), heartbeatMs), setInterval(() => this.#checkMemory(), statPollMs)];
    this.#send({ kind: "start", options: settings.child });
  }

  /** Whether it ever could run something. */
  get wasReady(): boolean {
    return this.#wasReady;
  }

  /** Whether it takes no more work. */
  get isLost(): boolean {
    return this.#lost;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get isolates(): number {
    return this.#isolates;
  }

  get residentBytes(): number {
    return this.#residentBytes;
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  execute(...[request, onResponse, onPause]: Parameters<Sandbox["execute"]>): Promise<Execution> {
    return new Promise((resolve) => {
      const id = this.#begin({ kind: "execute", resolve, onResponse, onPause });
      this.#send({ kind: "execute", id, request, wantsResponse: onResponse !== undefined });
    });
  }

  inspect(request: InspectRequest): Promise<Inspection> {
    return new Promise((resolve) => {
      const id = this.#begin({ kind: "inspect", resolve });
      this.#send({ kind: "inspect", id, request });
    });
  }

  evict(source: string): void {
    this.#send({ kind: "evict", source });
  }

  kill(): void {
    this.#process.kill("SIGKILL");
    if (this.#process.pid === undefined) this.#onExit("could not be started");
  }

  #begin(pending: Pending): number {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#pending.set(id, pending);
    if (this.#dead) queueMicrotask(() => this.#failPending("is gone"));
    return id;
  }

  #receive(message: FromChild): void {
    switch (message.kind) {
      case "ready":
        if (message.caches !== undefined) this.#settings.onCaches(message.caches);
        this.#wasReady = true;
        return this.#markReady();
      case "pong":
        this.#missed = 0;
        this.#cpuMsAtAnswer = mainThreadCpuMs(this.#process.pid);
        this.#isolates = message.isolates;
        this.#settings.onEvictions(message.evictions);
        return;
      case "poisoned":
        return this.#retire(message.reason);
      case "response": {
        const pending = this.#pending.get(message.id);
        if (pending?.kind === "execute") pending.onResponse?.(message.response);
        return;
      }
      case "paused": {
        const pending = this.#pending.get(message.id);
        return pending?.kind === "execute" ? pending.onPause?.() : undefined;
      }
      case "executed": {
        const pending = this.#pending.get(message.id);
        this.#pending.delete(message.id);
        if (pending?.kind === "execute") pending.resolve(message.execution);
        return;
      }
      case "inspected": {
        const pending = this.#pending.get(message.id);
        this.#pending.delete(message.id);
        if (pending?.kind === "inspect") pending.resolve(message.inspection);
        return;
      }
    }
  }

  /** What runs in it may still end well; then it goes. */
  #retire(reason: string): void {
    this.#lose(reason);
    const startedAt = Date.now();
    const timer = setInterval(() => {
      if (this.#pending.size > 0 && Date.now() - startedAt < drainMs) return;
      clearInterval(timer);
      this.kill();
    }, 50);
  }

  #lose(reason: string): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#settings.onLost(reason);
  }

  #beat(): void {
    this.#missed += 1;
    if (this.#isBlocked()) {
      this.#death ??= { code: "process_blocked", message: `its process did not answer for ${this.#missed - 1} s` };
      return this.kill();
    }
    this.#send({ kind: "ping" });
  }

  #isBlocked(): boolean {
    if (this.#missed > missedAtMost) return true;
    const silentMs = this.#missed * heartbeatMs;
    // Before it is ready its own start computes.
    return this.#wasReady && this.#missed > missedHeartbeats && mainThreadCpuMs(this.#process.pid) - this.#cpuMsAtAnswer > silentMs / 2;
  }

  #checkMemory(): void {
    this.#priorities.lower();
    this.#residentBytes = residentBytesOf(this.#process.pid);
    if (this.#residentBytes <= this.#settings.residentLimitBytes) return;
    this.#death ??= {
      code: "memory_limit",
      message: `its process used ${Math.round(this.#residentBytes / 2 ** 20)} MB of memory`,
    };
    this.kill();
  }

  #onExit(how: string): void {
    if (this.#dead) return;
    this.#dead = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#residentBytes = 0;
    this.#isolates = 0;
    this.#failReady(new Error(`a sandbox child could not start: it ended with ${how}`));
    this.#failPending(`ended with ${how}`);
    this.#lose(this.#death?.message ?? how);
  }

  /** With one execution in it there is no doubt which one made us kill it, once it could run any. */
  #failPending(how: string): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    const culprit = pending.length === 1 && this.#wasReady ? this.#death : undefined;
    const message = this.#death?.message ?? `its process ${how}`;
    for (const one of pending) {
      if (one.kind === "inspect")
        one.resolve({
          outcome: "rejected",
          code: culprit?.code ?? "crashed",
          message: `evaluating the component failed: ${message}`,
        });
      else one.resolve(culprit === undefined ? { outcome: "crashed", message } : stopped(culprit.code, `the run was ended: ${message}`));
    }
  }
}

/** An execution that took its process along and left nothing behind. */
export function stopped(code: string, message: string): Execution {
  return {
    outcome: "limited",
    costProcess: true,
    error: limitError(code, message),
    emits: [],
    logs: [],
    db: {},
    response: null,
    durationMs: 0,
    cpuMs: 0,
  };
}

function start(settings: ChildSettings): ChildProcess {
  const execArgv = [
    // isolated-vm shares a heap between isolates of one process that must come from one snapshot.
    "--no-node-snapshot",
    // For what is young, in each isolate: docs/operations.md, "Memory".
    "--max-semi-space-size=2",
    // Isolates at rest are collected by it, see isolate-memory.ts.
    "--expose-gc",
    "--permission",
    "--allow-addons",
    ...settings.readable.map((path) => `--allow-fs-read=${path}`),
    "--disable-warning=SecurityWarning",
    "--disable-warning=ExperimentalWarning",
  ];
  return fork(settings.script, [], {
    execArgv,
    // Half of them for names, half for what components have computed there (`operations/slots.ts`); Node's four were soon all taken.
    env: { UV_THREADPOOL_SIZE: "12" },
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
}
