import { batched } from "./batch.ts";
import { startError } from "./child-outcomes.ts";
import { ChildRequests } from "./child-requests.ts";
import type { ChildSettings } from "./child-settings.ts";
import { readStderr } from "./child-stderr.ts";
import { encodeFrame, outOfTurn, type ProtocolViolation, readFrames } from "../frames.ts";
import { parseFromChild } from "./from-child.ts";
import { SoleRunGrowth } from "./memory-blame.ts";
import type { ExecuteRequest, Execution, Inspection, InspectRequest, Listeners } from "../port.ts";
import { type Pending, PendingWork } from "./pending-work.ts";
import type { ProcessUsage, SandboxProcess } from "../processes/port.ts";
import { debuggedChildLimits, type FromChild, fromChildLimits, type ToChild, toChildLimits } from "./protocol.ts";
import type { Warm } from "../isolate/warm-isolates.ts";

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
  readonly #process: SandboxProcess;
  readonly #pending = new PendingWork();
  readonly #requests: ChildRequests;
  readonly #send: (message: ToChild) => void;
  readonly #timers: NodeJS.Timeout[];
  readonly #growth: SoleRunGrowth;
  readonly #markReady: () => void;
  readonly #failReady: (error: Error) => void;
  #wasReady = false;
  #isLost = false;
  #isDead = false;
  #warm: Warm = { isolates: 0, sources: 0 };
  #usage: ProcessUsage = { residentBytes: 0, mainThreadCpuMs: 0 };
  #missedHeartbeats = 0;
  /** Each allows one `pong`: a flood of them would occupy this process. */
  #unansweredPings = 0;
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
    const { command, isLowPriority } = settings;
    this.#process = settings.processes.start({ command: command(), isLowPriority, onExit: (how) => this.#onExit(how) });
    this.#listen(this.#process);
    this.#growth = new SoleRunGrowth(settings.residentLimitBytes);
    const write = batched<Buffer>((frames) => {
      const { channel } = this.#process;
      if (channel?.writable === true) channel.write(Buffer.concat(frames));
    });
    this.#send = (message) => write(encodeFrame(toChildLimits, message));
    this.#requests = new ChildRequests({
      connector: settings.connector,
      send: this.#send,
      channel: this.#process.channel,
      descriptors: this.#process.descriptors,
      userOf: (execution) => this.#pending.userOf(execution),
      dataStores: settings.dataStores,
      runFiles: settings.runFiles,
      debug: settings.debug,
    });
    this.#timers = [
      setInterval(() => this.#beat(), heartbeatMs),
      setInterval(() => this.#process.measure((usage) => this.#checkMemory(usage)), memoryPollMs),
    ];
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
    return this.#process.pid;
  }

  get warm(): Warm {
    return this.#warm;
  }

  get residentBytes(): number {
    return this.#usage.residentBytes;
  }

  /** As `Sandbox` does; the source of a run that is apart gets an isolate of its own. @throws Unavailable if the child could not start */
  execute(request: ExecuteRequest, isApart: boolean, { onResponse, onPause = () => {} }: Listeners): Promise<Execution> {
    return new Promise((resolve, reject) => {
      const { owner, limits, stores, files } = request;
      const id = this.#begin({ kind: "execute", owner, stores, files, resolve, reject, onResponse, onPause, memoryMb: limits.memoryMb });
      this.#settings.debug?.attach((message) => this.#send({ kind: "debug", message }));
      this.#send({ kind: "execute", id, request, isApart, wantsResponse: onResponse !== undefined });
    });
  }

  /** @throws Unavailable if the child ended before it could run anything */
  inspect(request: InspectRequest): Promise<Inspection> {
    return new Promise((resolve, reject) => {
      const id = this.#begin({ kind: "inspect", owner: request.owner ?? "", resolve, reject, memoryMb: inspectMemoryMb });
      this.#send({ kind: "inspect", id, request });
    });
  }

  evict(source: string): void {
    this.#send({ kind: "evict", source });
  }

  kill(): void {
    this.#process.kill();
  }

  #listen({ channel, descriptors, stderr }: SandboxProcess): void {
    readStderr(stderr, this.#settings.onStderr);
    // Its `exit` reports the end of a child; a broken channel says nothing more.
    for (const each of [channel, descriptors]) each?.on("error", () => {});
    if (channel === undefined) return;
    readFrames(channel, this.#settings.debug === undefined ? fromChildLimits : debuggedChildLimits, {
      onFrame: (frame) => {
        if (this.#killReason === undefined) this.#receive(parseFromChild(frame));
      },
      onViolation: (violation) => this.#refuse(violation),
    });
  }

  /** Nothing that the child says is believed any more. */
  #refuse({ message }: ProtocolViolation): void {
    this.#end(`its process sent ${message}`);
  }

  #end(reason: string): void {
    this.#killReason ??= reason;
    this.kill();
  }

  #begin(pending: Pending): number {
    const id = this.#pending.add(pending);
    this.#watchSoleRun();
    if (this.#isDead) queueMicrotask(() => this.#settlePending("is gone"));
    return id;
  }

  /** Starts or ends the measurement of one execution's growth, whenever the number in flight changes. */
  #watchSoleRun(): void {
    this.#growth.end();
    const [id] = this.#pending.sole ?? [];
    if (id === undefined) return;
    this.#process.measure(({ residentBytes }) => {
      const { sole } = this.#pending;
      // A child that is draining may hold a disposed isolate that still grows.
      if (sole?.[0] === id && !this.#isLost) this.#growth.begin(id, residentBytes, sole[1].memoryMb * 2 ** 20);
    });
  }

  /** @throws ProtocolViolation if the message is out of turn: native code in the child may have sent it */
  #receive(message: FromChild): void {
    switch (message.kind) {
      case "ready":
        return this.#onReady();
      case "pong":
        if (this.#unansweredPings === 0) throw outOfTurn(message.kind);
        this.#unansweredPings -= 1;
        this.#missedHeartbeats = 0;
        this.#process.measure(({ mainThreadCpuMs }) => (this.#cpuMsAtAnswer = mainThreadCpuMs));
        this.#warm = message.warm;
        this.#settings.onEvictions(message.evictions);
        return;
      case "poisoned":
        if (this.#isLost) throw outOfTurn(message.kind);
        return this.#drain(message.reason);
      default: {
        if (!this.#wasReady) throw outOfTurn(message.kind);
        this.#receiveOfExecution(message);
      }
    }
  }

  #receiveOfExecution(message: Exclude<FromChild, { kind: "ready" | "pong" | "poisoned" }>): void {
    switch (message.kind) {
      case "executed":
      case "inspected":
        this.#pending.receive(message);
        this.#requests.endExecution(message.id);
        return this.#watchSoleRun();
      case "response":
      case "paused":
        return this.#pending.receive(message);
      default:
        return this.#requests.receive(message);
    }
  }

  #onReady(): void {
    if (this.#wasReady) throw outOfTurn("ready");
    this.#wasReady = true;
    this.#watchSoleRun(); // Its own start is over.
    this.#settings.onReady();
    this.#markReady();
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
    if (!this.#isBlocked()) {
      this.#unansweredPings += 1;
      return this.#send({ kind: "ping" });
    }
    this.#end(`its process did not answer for ${this.#missedHeartbeats - 1} s`);
  }

  #isBlocked(): boolean {
    if (this.#missedHeartbeats > maxMissedWhileIdle) return true;
    const silentMs = this.#missedHeartbeats * heartbeatMs;
    // Before it is ready, its own start computes.
    return (
      this.#wasReady && this.#missedHeartbeats > maxMissedHeartbeats && this.#usage.mainThreadCpuMs - this.#cpuMsAtAnswer > silentMs / 2
    );
  }

  #checkMemory(usage: ProcessUsage): void {
    if (this.#isDead) return;
    this.#usage = usage;
    const { residentBytes } = usage;
    if (residentBytes <= this.#settings.residentLimitBytes || this.#killReason !== undefined) return;
    this.#isMemoryKill = true;
    this.#killReason = `its process used ${Math.round(residentBytes / 2 ** 20)} MB of memory`;
    this.#memoryCulprit = this.#growth.culprit(residentBytes);
    this.kill();
  }

  #onExit(how: string): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#requests.end();
    for (const timer of this.#timers) clearInterval(timer);
    this.#usage = { residentBytes: 0, mainThreadCpuMs: 0 };
    this.#warm = { isolates: 0, sources: 0 };
    this.#lose(this.#killReason ?? how);
    this.#failReady(startError(how));
    this.#settlePending(`ended with ${how}`);
    this.#settings.onExit();
  }

  #settlePending(how: string): void {
    const death = {
      message: this.#killReason ?? `its process ${how}`,
      isMemoryKill: this.#isMemoryKill,
      inFlight: this.#pending.size,
    };
    this.#pending.end(death, this.#wasReady, this.#memoryCulprit);
  }
}
