import type { Clock } from "../domain/clock.ts";
import type { Weights } from "./ports.ts";

/** How many owners are remembered; who came first is forgotten first. */
const mostRemembered = 10_000;
/** A weight ends by itself when nobody tells it any more, and no news comes of that. */
const askAgainMs = 10 * 60_000;

interface Known {
  weight: number;
  readAtMs: number;
}

/**
 * How much owners weigh whose runs wait here. One is asked for when the first of it comes, and heard of from then on; until it is known,
 * and when it cannot be, an owner weighs as much as most do: nobody waits for an answer.
 */
export class OwnerWeights {
  readonly #port: Weights | undefined;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  #following: { stop(): Promise<void> } | undefined;

  constructor(port: Weights | undefined, clock: Clock) {
    this.#port = port;
    this.#clock = clock;
  }

  async start(): Promise<void> {
    this.#following = await this.#port?.onChange((owner) => {
      const affected = owner === undefined ? [...this.#known.keys()] : [owner].filter((each) => this.#known.has(each));
      for (const each of affected) void this.#read(each); // Never rejects.
    });
  }

  async stop(): Promise<void> {
    await this.#following?.stop();
  }

  weightOf(owner: string): number {
    const known = this.#known.get(owner);
    if (known === undefined || this.#clock.now() - known.readAtMs > askAgainMs) void this.#read(owner); // Never rejects.
    return known?.weight ?? 1;
  }

  async #read(owner: string): Promise<void> {
    if (this.#port === undefined) return;
    const known = this.#known.get(owner) ?? { weight: 1, readAtMs: 0 };
    const readAtMs = (known.readAtMs = Math.max(known.readAtMs, this.#clock.now())); // Not asked for twice meanwhile.
    this.#known.set(owner, known);
    for (const [first] of this.#known) {
      if (this.#known.size <= mostRemembered) break;
      this.#known.delete(first);
    }
    try {
      const weight = (await this.#port.weightOf(owner)) ?? 1;
      // One that was asked for later is newer.
      if (this.#known.get(owner)?.readAtMs === readAtMs) known.weight = weight > 0 ? weight : 1;
    } catch {
      // It stays what it was; a pool of one owner's may not even ask, and needs no weights.
    }
  }
}
