import type { Clock } from "../../domain/clock.ts";
import type { Answer } from "../../domain/invocation/invocation.ts";
import { OwnerValues } from "./owner-value-cache.ts";
import type { OverQuota } from "../ports.ts";

/**
 * Which of the owners whose work comes here have used up the quota of the day. What cannot be read now counts as not used up: usage is
 * counted elsewhere.
 */
export class OwnersOverQuota {
  readonly #clock: Clock;
  readonly #onChange: (owner: string, untilMs: number | undefined) => void;
  /** Epoch ms until which the owner's quota is used up; 0: it is not. */
  readonly #until: OwnerValues<number>;
  /** Of owners over quota: reads again when their time is over. */
  readonly #over = new Map<string, { readonly untilMs: number; readonly timer: NodeJS.Timeout }>();

  /** @param onChange called with the epoch ms until which an owner's quota is used up, and with undefined when that is over */
  constructor(port: OverQuota, clock: Clock, onChange: (owner: string, untilMs: number | undefined) => void) {
    this.#clock = clock;
    this.#onChange = onChange;
    this.#until = new OwnerValues({
      read: (owner) => port.untilOf(owner),
      follow: (changed) => port.onChange(changed),
      usual: 0,
      clock,
      onRead: (owner, untilMs) => this.#set(owner, untilMs),
    });
  }

  start(): Promise<void> {
    return this.#until.start();
  }

  async stop(): Promise<void> {
    for (const { timer } of this.#over.values()) clearTimeout(timer);
    await this.#until.stop();
  }

  /** Epoch ms; 0 for owners within quota. */
  untilOf(owner: string): number {
    return this.#over.get(owner)?.untilMs ?? 0;
  }

  /** Resolves with the owner once it is known whether the owner is over quota; not a promise if it is known already. */
  known(owner: string | undefined | Promise<string | undefined>): string | undefined | Promise<string | undefined> {
    if (owner instanceof Promise) return owner.then((found) => this.known(found));
    if (owner === undefined) return owner;
    if (!this.#until.isKnown(owner)) return this.#until.reload(owner).then(() => owner);
    this.#until.get(owner); // Reads it again if it is old.
    return owner;
  }

  #set(owner: string, untilMs: number): void {
    const before = this.#over.get(owner);
    const leftMs = untilMs - this.#clock.now();
    clearTimeout(before?.timer);
    if (leftMs > 0) this.#over.set(owner, { untilMs, timer: setTimeout(() => void this.#until.reload(owner), leftMs).unref() }); // Never rejects.
    else this.#over.delete(owner);
    if (leftMs > 0 ? before?.untilMs !== untilMs : before !== undefined) this.#onChange(owner, leftMs > 0 ? untilMs : undefined);
  }
}

/** The response to requests of an owner over quota: their callers wait now, so they do not run later. */
export function quotaRefusal(untilMs: number, now: number): Answer {
  const seconds = Math.max(1, Math.ceil((untilMs - now) / 1_000));
  return refused(429, seconds, {
    error: `the owner of this endpoint has used up the quota of the day: send it again in ${seconds} s`,
    code: "quota_exceeded",
  });
}

/** The same while delivery is behind with the owner's commits. */
export const behindRefusal: Answer = refused(503, 5, {
  error: "the runs of this endpoint's owner leave more than can be delivered and recorded: send it again in 5 s",
  code: "deliveries_behind",
});

function refused(status: number, retryAfterSeconds: number, body: { readonly error: string; readonly code: string }): Answer {
  const headers = { "content-type": "application/json", "retry-after": String(retryAfterSeconds) };
  return { kind: "response", response: { status, headers, body: JSON.stringify(body) } };
}
