import type { Clock } from "../domain/clock.ts";
import type { Answer } from "../domain/invocation.ts";
import type { OverQuota } from "./ports.ts";

/** How many owners are remembered of whom there is nothing to tell. */
const mostRemembered = 10_000;

/**
 * Who has used up the quota of the day, of the owners whose work comes here. One is asked for when the first of it comes, so that a
 * runner that starts later knows as much, and heard of from then on. What cannot be asked now is taken for nothing used up: what is
 * counted is counted elsewhere, and here it may be late.
 */
export class OwnersOverQuota {
  readonly #port: OverQuota;
  readonly #clock: Clock;
  readonly #changed: (owner: string, untilMs: number | undefined) => void;
  /** Epoch ms; 0 for those who may run. */
  readonly #until = new Map<string, number>();
  readonly #reading = new Map<string, Promise<void>>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #following: { stop(): Promise<void> } | undefined;

  /** @param changed is told when an owner's quota is used up, and until when, epoch ms; and when that is over. */
  constructor(port: OverQuota, clock: Clock, changed: (owner: string, untilMs: number | undefined) => void) {
    this.#port = port;
    this.#clock = clock;
    this.#changed = changed;
  }

  async start(): Promise<void> {
    this.#following = await this.#port.onChange((owner) => {
      const affected = owner === undefined ? [...this.#until.keys()] : [owner].filter((each) => this.#until.has(each));
      for (const each of affected) void this.#read(each); // Never rejects.
    });
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await this.#following?.stop();
  }

  /** Epoch ms; 0 for those who may run. */
  untilOf(owner: string): number {
    return this.#until.get(owner) ?? 0;
  }

  /** Resolves with the owner when it is known whether they may run; at once when it is already. Whoever is nobody may. */
  known(owner: string | undefined | Promise<string | undefined>): string | undefined | Promise<string | undefined> {
    if (owner instanceof Promise) return owner.then((told) => this.known(told));
    if (owner === undefined || this.#until.has(owner)) return owner;
    return this.#read(owner).then(() => owner);
  }

  /** One after the other, so that the last begins after what it was told of. */
  #read(owner: string): Promise<void> {
    const reading = (this.#reading.get(owner) ?? Promise.resolve()).then(async () => {
      try {
        this.#set(owner, (await this.#port.untilOf(owner)) ?? 0);
      } catch {
        if ((this.#until.get(owner) ?? 0) === 0) this.#until.delete(owner); // Asked for again next time.
      }
      if (this.#reading.get(owner) === reading) this.#reading.delete(owner);
    });
    this.#reading.set(owner, reading);
    return reading;
  }

  #set(owner: string, untilMs: number): void {
    const before = this.#until.get(owner) ?? 0;
    const leftMs = untilMs - this.#clock.now();
    const until = leftMs > 0 ? untilMs : 0;
    if (this.#until.size >= mostRemembered) this.#forget();
    this.#until.set(owner, until);
    clearTimeout(this.#timers.get(owner));
    this.#timers.delete(owner);
    // Asked again when it is over: there may be a new one by then.
    if (until > 0) this.#timers.set(owner, setTimeout(() => void this.#read(owner), leftMs).unref()); // Never rejects.
    if (until !== before) this.#changed(owner, until === 0 ? undefined : until);
  }

  #forget(): void {
    for (const [owner, until] of this.#until) if (until === 0) this.#until.delete(owner);
  }
}

/** For callers that wait for the answer of a source that does not run: refused, and so not to be run later. */
export function refusal(untilMs: number, now: number): Answer {
  const seconds = Math.max(1, Math.ceil((untilMs - now) / 1_000));
  return refused(429, seconds, {
    error: `the owner of this endpoint has used up the quota of the day: send it again in ${seconds} s`,
    code: "quota_exceeded",
  });
}

/** The same, while delivery is behind with the commits of the owner. */
export const behindRefusal: Answer = refused(503, 5, {
  error: "the runs of this endpoint's owner leave more than can be delivered and recorded: send it again in 5 s",
  code: "deliveries_behind",
});

function refused(status: number, retryAfterSeconds: number, body: { readonly error: string; readonly code: string }): Answer {
  const headers = { "content-type": "application/json", "retry-after": String(retryAfterSeconds) };
  return { kind: "response", response: { status, headers, body: JSON.stringify(body) } };
}
