import type { PostRequest, PostResult } from "../../delivery/destinations/ports.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { VirtualTime } from "./virtual-time.ts";

export interface Received {
  /** `webhook-id`: the emit id. */
  readonly id: string;
  readonly body: string;
  readonly status: number;
}

/** The receivers of webhooks. Each is at times slow, and at times down for a while. */
export class ReceiversModel {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #downUntil = new Map<string, number>();
  readonly #received = new Map<string, Received[]>();
  /** Whether anything fails. */
  areFaulty = true;

  constructor(time: VirtualTime, random: Random) {
    this.#time = time;
    this.#random = random;
  }

  /** All requests to a URL, in order of arrival, also those that it has refused. */
  received(url: string): readonly Received[] {
    return this.#received.get(url) ?? [];
  }

  /** A request is received once or not at all, and its answer may be lost. */
  post(process: SimulatedProcess, { url, headers, body = "" }: PostRequest): Promise<PostResult> {
    const random = this.#random;
    const unreachable: PostResult = { outcome: "unreachable", code: "ECONNRESET", message: "the connection ended" };
    const isSlow = this.areFaulty && random.isTrue(0.01);
    const [wayMs, backMs] = [random.between(0.5, 10), isSlow ? random.between(500, 20_000) : random.between(0.5, 10)];
    return new Promise((resolve) => {
      this.#time.after(wayMs, () => {
        if (process.isCut || (this.areFaulty && random.isTrue(0.01))) return void process.after(1_000, () => resolve(unreachable));
        const status = this.#isDown(url) ? 503 : 200;
        const received = this.#received.get(url) ?? [];
        this.#received.set(url, received);
        received.push({ id: String(headers["webhook-id"]), body, status });
        const isLost = this.areFaulty && random.isTrue(0.01);
        process.after(backMs, () => resolve(isLost ? unreachable : { outcome: "answered", status, retryAfter: undefined }));
      });
    });
  }

  #isDown(url: string): boolean {
    if (!this.areFaulty) return false;
    if (this.#random.isTrue(0.01)) this.#downUntil.set(url, this.#time.now + this.#random.untilNext(30_000));
    return (this.#downUntil.get(url) ?? 0) > this.#time.now;
  }
}
