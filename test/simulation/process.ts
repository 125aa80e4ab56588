import { Unavailable } from "../../domain/errors.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Random } from "./random.ts";
import { currentProcess, ProcessTimer, type ProcessGlobals, type Task, type VirtualTime } from "./virtual-time.ts";

/** Epoch ms at which simulations begin. */
export const startedAt = 1_800_000_000_000;

export type Server = "nats" | "postgres";

/** What goes wrong between a process and a server. */
export interface Faults {
  /** Probability that one request, or its answer, is lost. */
  lossRate: number;
  readonly isDown: Record<Server, boolean>;
}

/** Clients give up a request after this time. */
const answerTimeoutMs = 5_000;

/**
 * A process that can be killed, stalled and cut off at any time. Its code runs unchanged: all that it awaits are timers and answers of servers,
 * and these reach it only while it lives.
 */
export class SimulatedProcess implements ProcessGlobals {
  readonly name: string;
  readonly time: VirtualTime;
  readonly #random: Random;
  readonly #faults: Faults;
  readonly #bornAt: number;
  #isAlive = true;
  #stalledUntil = 0;
  /** Ms by which its clock is ahead. */
  skewMs = 0;
  /** Whether the network loses what it sends and would receive. */
  isCut = false;
  /** By connection and direction, the time of the last arrival: a connection keeps the order. */
  readonly #arrivals = new Map<string, number>();

  constructor(name: string, { time, random, faults }: { readonly time: VirtualTime; readonly random: Random; readonly faults: Faults }) {
    this.name = name;
    this.time = time;
    this.#random = random;
    this.#faults = faults;
    this.#bornAt = time.now;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  readonly clock: Clock = { now: () => Math.floor(startedAt + this.time.now + this.skewMs) };

  /** Ms that `performance.now` returns: steps of the clock do not change it. */
  get uptimeMs(): number {
    return this.time.now - this.#bornAt;
  }

  readonly random = (): number => this.#random.next();

  /** Runs code as that of this process. */
  run<Result>(code: () => Result): Result {
    return currentProcess.run(this, code);
  }

  kill(): void {
    this.#isAlive = false;
  }

  /** Nothing of it runs for a while, and then all that is late. */
  stall(ms: number): void {
    this.#stalledUntil = Math.max(this.#stalledUntil, this.time.now + ms);
  }

  /** Runs code of the process later, if it still lives. */
  after(ms: number, code: () => void): Task {
    const timer = new ProcessTimer();
    const fire = (): void => {
      if (!this.#isAlive) return;
      const leftMs = this.#stalledUntil - this.time.now;
      if (leftMs > 0) timer.set(this.time.after(leftMs, fire));
      else this.run(code);
    };
    timer.set(this.time.after(ms, fire));
    return timer;
  }

  setTimer(action: () => void, ms: number, repeat: boolean): ProcessTimer {
    const timer = new ProcessTimer();
    const set = (): void =>
      timer.set(
        this.after(ms, () => {
          if (repeat) set();
          action();
        }),
      );
    set();
    return timer;
  }

  signalAfter(ms: number): AbortSignal {
    const ending = new AbortController();
    this.after(ms, () => ending.abort());
    return ending.signal;
  }

  /**
   * Sends a request to a server, where it has its effect at once or not at all. Over `nats`, requests arrive in the order in which they were
   * sent.
   *
   * @throws Unavailable if the request or its answer is lost; what the effect throws
   */
  request<Answer>(server: Server, effect: () => Answer): Promise<Answer> {
    const isLost = this.#random.isTrue(this.#faults.lossRate);
    const losesAnswer = isLost && this.#random.isTrue(0.5);
    return new Promise<Answer>((resolve, reject) => {
      const giveUp = (): void =>
        void this.after(answerTimeoutMs, () => reject(new Unavailable(`${server} does not answer: try again in a moment`)));
      this.time.after(this.#latency(server, "to"), () => {
        if (!this.#isAlive && this.#random.isTrue(0.5)) return; // What a killed process had sent may arrive or not.
        if ((isLost && !losesAnswer) || this.isCut || this.#faults.isDown[server]) return giveUp();
        const answer = answerOf(effect);
        if (losesAnswer) return giveUp();
        this.after(this.#latency(server, "from"), () => ("error" in answer ? reject(answer.error) : resolve(answer.value)));
      });
    });
  }

  /** Sends what needs no answer, such as an ack. */
  send(server: Server, effect: () => void): void {
    void this.request(server, effect).catch(() => undefined);
  }

  /** Whether NATS can send it something now. */
  get isConnected(): boolean {
    return !this.isCut && !this.#faults.isDown.nats;
  }

  /** Calls code of the process from NATS, in order. */
  push(code: () => void): void {
    this.after(this.#latency("nats", "from"), code);
  }

  #latency(server: Server, direction: "to" | "from"): number {
    const ms = this.#random.isTrue(0.02) ? this.#random.between(1, 200) : this.#random.between(0.1, 2);
    if (server === "postgres") return ms; // A pool of connections.
    const at = Math.max(this.#arrivals.get(direction) ?? 0, this.time.now + ms);
    this.#arrivals.set(direction, at);
    return at - this.time.now;
  }
}

type Answered<Answer> = { readonly value: Answer } | { readonly error: unknown };

function answerOf<Answer>(effect: () => Answer): Answered<Answer> {
  try {
    return { value: effect() };
  } catch (error) {
    return { error };
  }
}
