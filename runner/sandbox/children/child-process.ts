import type { ChildProcess } from "node:child_process";
import type { HttpResponse } from "../../../domain/invocation/invocation.ts";
import { batched } from "./batch.ts";
import { crashedExecution, crashedInspection, endedByMemory, startError } from "./child-outcomes.ts";
import { forkChild } from "./fork-child.ts";
import { SoleRunGrowth } from "./memory-blame.ts";
import type { ExecuteRequest, Execution, Inspection, InspectRequest, Listeners } from "../port.ts";
import { ThreadPriorities } from "./priority.ts";
import { mainThreadCpuMs, residentBytesOf } from "./process-usage.ts";
import type { ChildOptions, FromChild, PreludeCaches, ToChild, Warm } from "./protocol.ts";

export interface ChildSettings {
  /** Path of the child's program, see child-script.ts. */
  readonly script: string;
  readonly child: ChildOptions;
  /** Directories and files it may read. */
  readonly readable: readonly string[];
  readonly residentLimitBytes: number;
  readonly onCaches: (caches: PreludeCaches) => void;
  readonly onStderr: (text: string) => void;
  /** The child evicted that many warm sources to make room for others. */
  readonly onEvictions: (count: number) => void;
  readonly onReady: () => void;
  /** The child takes no more work. Called once, before its executions settle if it died. */
  readonly onLost: (reason: string) => void;
  /** The process has ended. Called once. */
  readonly onExit: () => void;
  /** Runs the whole process at a low CPU priority. */
  readonly isLowPriority: boolean;
}

type Pending = { readonly reject: (error: Error) => void; readonly memoryMb: number } & (
  | {
      readonly kind: "execute";
      readonly resolve: (execution: Execution) => void;
      readonly onResponse: ((response: HttpResponse) => void) | undefined;
      readonly onPause: (() => void) | undefined;
    }
  | { readonly kind: "inspect"; readonly resolve: (inspection: Inspection) => void }
);

const heartbeatMs = 1_000;
/** A child whose main thread computes without answering that many heartbeats is blocked. */
const maxMissedHeartbeats = 5;
/** The same for a child that does not compute: an overloaded machine or a slow start makes it wait, but not forever. */
const maxMissedWhileIdle = 30;
const drainMs = 4_000;
const memoryPollMs = 100;
const inspectMemoryMb = 256;

/**
 * The parent's side of one child process: start, heartbeat, memory, drain, kill.
 *
 *     starting ── ready ──▶ working ── poisoned ──▶ draining ──▶ dead
 *        └── exits: rejects Unavailable   └── exits: `crashed`
 *
 * A child is killed, never asked to exit. Work in flight when a working child dies resolves as `crashed`. Work for a child that never
 * became ready rejects, because it has not begun.
 */
export class SandboxChild {
  /** Rejects with Unavailable if the child ends before it can run anything. */
  readonly ready: Promise<void>;
  readonly #settings: ChildSettings;
  /** Undefined if fork threw. */
  readonly #process: ChildProcess | undefined;
  readonly #pending = new Map<number, Pending>();
  readonly #send: (message: ToChild) => void;
  readonly #timers: NodeJS.Timeout[];
  readonly #priorities: ThreadPriorities;
  readonly #growth: SoleRunGrowth;
  readonly #markReady: () => void;
  readonly #failReady: (error: Error) => void;
  #wasReady = false;
  #isLost = false;
  #isDead = false;
  #warm: Warm = { isolates: 0, sources: 0 };
  #residentBytes = 0;
  #nextId = 1;
  #missedHeartbeats = 0;
  /** CPU time of its main thread at its last answer, ms. */
  #cpuMsAtAnswer = 0;
  /** Why we killed it. */
  #killReason: string | undefined;
  #isMemoryKill = false;
  /** The execution that measurably filled the child's memory. */
  #memoryCulprit: number | undefined;

  constructor(settings: ChildSettings) {
    this.#settings = settings;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#markReady = resolve;
    this.#failReady = reject;
    promise.catch(() => {}); // Callers that wait handle it; most do not wait.
    this.#process = this.#fork();
    this.#priorities = new ThreadPriorities(this.pid, settings.isLowPriority);
    this.#growth = new SoleRunGrowth(settings.residentLimitBytes);
    this.#send = batched<ToChild>((messages) => {
      if (this.#process?.connected === true) this.#process.send(messages.slice(), () => {});
    });
    this.#timers = [setInterval(() => this.#beat(), heartbeatMs), setInterval(() => this.#checkMemory(), memoryPollMs)];
    this.#send({ kind: "start", options: settings.child });
  }

  /** Whether it was ever able to run something. */
  get wasReady(): boolean {
    return this.#wasReady;
  }

  /** Whether it takes no more work. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get warm(): Warm {
    return this.#warm;
  }

  get residentBytes(): number {
    return this.#residentBytes;
  }

  /** As `Sandbox` does; the source of a run that is apart gets an isolate of its own. @throws Unavailable if the child could not start */
  execute(request: ExecuteRequest, isApart: boolean, { onResponse, onPause }: Listeners): Promise<Execution> {
    return new Promise((resolve, reject) => {
      const { memoryMb } = request.limits;
      const id = this.#begin({ kind: "execute", resolve, reject, onResponse, onPause, memoryMb });
      this.#send({ kind: "execute", id, request, isApart, wantsResponse: onResponse !== undefined });
    });
  }

  /** @throws Unavailable if the child ended before it could run anything */
  inspect(request: InspectRequest): Promise<Inspection> {
    return new Promise((resolve, reject) => {
      const id = this.#begin({ kind: "inspect", resolve, reject, memoryMb: inspectMemoryMb });
      this.#send({ kind: "inspect", id, request });
    });
  }

  evict(source: string): void {
    this.#send({ kind: "evict", source });
  }

  kill(): void {
    this.#process?.kill("SIGKILL");
  }

  #fork(): ChildProcess | undefined {
    try {
      const child = forkChild(this.#settings.script, this.#settings.readable);
      child.on("message", (messages: readonly FromChild[]) => {
        for (const message of messages) this.#receive(message);
      });
      child.stderr?.setEncoding("utf8").on("data", (text: string) => this.#settings.onStderr(text));
      child.on("error", (error) => {
        if (child.pid === undefined) this.#onExit(error.message);
        else this.kill();
      });
      child.on("exit", (code, signal) => this.#onExit(signal ?? `exit code ${code}`));
      return child;
    } catch (error) {
      queueMicrotask(() => this.#onExit(String(error))); // Report it as every other failed start is reported: later.
      return undefined;
    }
  }

  #begin(pending: Pending): number {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#pending.set(id, pending);
    this.#watchSoleRun();
    if (this.#isDead) queueMicrotask(() => this.#settlePending("is gone"));
    return id;
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    this.#watchSoleRun();
    return pending;
  }

  /** Starts or ends the measurement of one execution's growth, whenever the number in flight changes. */
  #watchSoleRun(): void {
    this.#growth.end();
    // A child that is draining may hold a disposed isolate that still grows.
    if (this.#pending.size !== 1 || this.#isLost) return;
    for (const [id, { memoryMb }] of this.#pending) this.#growth.begin(id, residentBytesOf(this.pid), memoryMb * 2 ** 20);
  }

  #receive(message: FromChild): void {
    switch (message.kind) {
      case "ready":
        if (message.caches !== undefined) this.#settings.onCaches(message.caches);
        this.#wasReady = true;
        this.#watchSoleRun(); // Its own start is over.
        this.#settings.onReady();
        return this.#markReady();
      case "pong":
        this.#missedHeartbeats = 0;
        this.#cpuMsAtAnswer = mainThreadCpuMs(this.pid);
        this.#warm = message.warm;
        this.#settings.onEvictions(message.evictions);
        return;
      case "poisoned":
        return this.#drain(message.reason);
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
        const pending = this.#settle(message.id);
        if (pending?.kind === "execute") pending.resolve(message.execution);
        return;
      }
      case "inspected": {
        const pending = this.#settle(message.id);
        if (pending?.kind === "inspect") pending.resolve(message.inspection);
        return;
      }
    }
  }

  /** Lets executions in flight end for a moment, then kills the child. */
  #drain(reason: string): void {
    this.#lose(reason);
    const startedAt = Date.now();
    const timer = setInterval(() => {
      if (this.#pending.size > 0 && Date.now() - startedAt < drainMs) return;
      clearInterval(timer);
      this.kill();
    }, 50);
  }

  #lose(reason: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#growth.end();
    this.#settings.onLost(reason);
  }

  #beat(): void {
    this.#missedHeartbeats += 1;
    if (!this.#isBlocked()) return this.#send({ kind: "ping" });
    this.#killReason ??= `its process did not answer for ${this.#missedHeartbeats - 1} s`;
    this.kill();
  }

  #isBlocked(): boolean {
    if (this.#missedHeartbeats > maxMissedWhileIdle) return true;
    const silentMs = this.#missedHeartbeats * heartbeatMs;
    // Before it is ready, its own start computes.
    return this.#wasReady && this.#missedHeartbeats > maxMissedHeartbeats && mainThreadCpuMs(this.pid) - this.#cpuMsAtAnswer > silentMs / 2;
  }

  #checkMemory(): void {
    this.#priorities.lower();
    this.#residentBytes = residentBytesOf(this.pid);
    if (this.#residentBytes <= this.#settings.residentLimitBytes || this.#killReason !== undefined) return;
    this.#isMemoryKill = true;
    this.#killReason = `its process used ${Math.round(this.#residentBytes / 2 ** 20)} MB of memory`;
    this.#memoryCulprit = this.#growth.culprit(this.#residentBytes);
    this.kill();
  }

  #onExit(how: string): void {
    if (this.#isDead) return;
    this.#isDead = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#residentBytes = 0;
    this.#warm = { isolates: 0, sources: 0 };
    this.#lose(this.#killReason ?? how);
    this.#failReady(startError(how));
    this.#settlePending(`ended with ${how}`);
    this.#settings.onExit();
  }

  #settlePending(how: string): void {
    const pending = [...this.#pending];
    this.#pending.clear();
    const death = { message: this.#killReason ?? `its process ${how}`, isMemoryKill: this.#isMemoryKill, inFlight: pending.length };
    for (const [id, one] of pending) {
      if (!this.#wasReady) one.reject(startError(death.message));
      else if (one.kind === "inspect") one.resolve(crashedInspection(death));
      else one.resolve(id === this.#memoryCulprit ? endedByMemory(death) : crashedExecution(death));
    }
  }
}
