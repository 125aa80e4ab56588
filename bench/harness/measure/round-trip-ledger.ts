import type { RawClient } from "../baseline/raw-http.ts";
import { percentile } from "./statistics.ts";

export interface Load {
  readonly port: number;
  readonly paths: readonly string[];
  readonly durationMs: number;
  /** A number of round trips under way at all times, or requests at a steady rate whatever comes back. */
  readonly pace: { readonly kind: "closed"; readonly inFlight: number } | { readonly kind: "open"; readonly perSecond: number };
  /** Characters added to each body. */
  readonly padding: number;
}

export interface RoundTripResult {
  readonly completed: number;
  /** From the first request to the last event received. */
  readonly elapsedMs: number;
  /** Statuses other than 200, by how often. */
  readonly refused: Readonly<Record<string, number>>;
  readonly missing: number;
  readonly doubled: number;
  /** From `$emit` to the webhook. */
  readonly emitToWebhook: Latency;
  /** From sending the request to the webhook. */
  readonly requestToWebhook: Latency;
  readonly requestToAnswer: Latency;
}

export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

const drainMs = 15_000;
const tickMs = 2;

/** Which requests are out, and what came back. The component emits `{ id, at }`: the request's id and the time of the emit. */
export class RoundTrips {
  readonly #load: Load;
  readonly #connect: (port: number) => RawClient;
  readonly #idle: RawClient[] = [];
  readonly #clients = new Set<RawClient>();
  readonly #sentAt = new Map<string, number>();
  readonly #seen = new Set<string>();
  readonly #refused: Record<string, number> = {};
  readonly #times: { readonly emit: number[]; readonly whole: number[]; readonly answer: number[] } = {
    emit: [],
    whole: [],
    answer: [],
  };
  #sent = 0;
  #doubled = 0;
  #lastAt = 0;
  #isOver = false;

  constructor(load: Load, connect: (port: number) => RawClient) {
    this.#load = load;
    this.#connect = connect;
  }

  async run(): Promise<RoundTripResult> {
    const startedAt = now();
    const { pace, durationMs } = this.#load;
    const timer = pace.kind === "open" ? this.#sendSteadily(pace.perSecond, startedAt) : undefined;
    if (pace.kind === "closed") for (let n = 0; n < pace.inFlight; n++) this.#send();
    await wait(durationMs);
    this.#isOver = true;
    clearInterval(timer);
    for (const deadline = now() + drainMs; this.#sentAt.size > 0 && now() < deadline;) await wait(5);
    for (const client of this.#clients) client.close();
    return {
      completed: this.#seen.size,
      elapsedMs: this.#lastAt - startedAt,
      refused: this.#refused,
      missing: this.#sentAt.size,
      doubled: this.#doubled,
      emitToWebhook: latency(this.#times.emit),
      requestToWebhook: latency(this.#times.whole),
      requestToAnswer: latency(this.#times.answer),
    };
  }

  onBody(body: string): void {
    const { id, at } = JSON.parse(body) as { id: string; at: number }; // The bench's own component.
    const sentAt = this.#sentAt.get(id);
    if (sentAt === undefined) {
      if (this.#seen.has(id)) this.#doubled++;
      return;
    }
    this.#lastAt = now();
    this.#sentAt.delete(id);
    this.#seen.add(id);
    this.#times.emit.push(this.#lastAt - at);
    this.#times.whole.push(this.#lastAt - sentAt);
    if (this.#load.pace.kind === "closed" && !this.#isOver) this.#send();
  }

  /** By the clock, not by the timer: a late timer sends what it missed. */
  #sendSteadily(perSecond: number, startedAt: number): NodeJS.Timeout {
    return setInterval(() => {
      for (const due = ((now() - startedAt) / 1_000) * perSecond; this.#sent < due;) this.#send();
    }, tickMs);
  }

  #send(): void {
    const id = `${this.#load.durationMs}.${this.#sent++}`;
    void this.#request(id, this.#load.paths[this.#sent % this.#load.paths.length] ?? "/"); // Counts its own failures.
  }

  async #request(id: string, path: string): Promise<void> {
    const client = this.#idle.pop() ?? this.#open();
    const sentAt = now();
    this.#sentAt.set(id, sentAt);
    const status = await client.post(path, `{"id":"${id}","pad":"${"x".repeat(this.#load.padding)}"}`).catch(() => 0);
    if (status === 200) this.#times.answer.push(now() - sentAt);
    if (status !== 0) this.#idle.push(client);
    if (status === 200) return;
    this.#sentAt.delete(id);
    this.#refused[status] = (this.#refused[status] ?? 0) + 1;
    // A refused client returns a little later.
    if (this.#load.pace.kind === "closed" && !this.#isOver) setTimeout(() => this.#isOver || this.#send(), 20);
  }

  #open(): RawClient {
    const client = this.#connect(this.#load.port);
    this.#clients.add(client);
    return client;
  }
}

/** Epoch ms with fractions. */
const now = (): number => performance.timeOrigin + performance.now();
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const latency = (values: readonly number[]): Latency => ({
  p50: percentile(values, 0.5),
  p95: percentile(values, 0.95),
  p99: percentile(values, 0.99),
});
