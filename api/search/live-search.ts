import { setImmediate } from "node:timers/promises";
import { InvalidInput } from "../../domain/errors.ts";
import type { EmittedEvent } from "../../domain/event/emitted-event.ts";
import type { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";
import type { BudgetEntry } from "../../domain/limits/budget.ts";
import type { RateEntry } from "../../domain/limits/shared-rate.ts";
import type { Turns } from "../../domain/limits/turns.ts";
import { TokenBucket } from "../../domain/limits/token-bucket.ts";
import type { SearchQuery } from "../../domain/search/query.ts";
import type { EventStream } from "../streams/event-stream.ts";
import type { Item } from "../streams/frames.ts";
import type { Tail } from "../streams/open-streams.ts";
import type { KeptSequences, RunMessage, RunMessages } from "../streams/ports.ts";
import { liveBounds, type LiveBounds } from "../streams/live-bounds.ts";
import { costOf, costOfMatch, LiveCommit, liveCommitOf, liveEventOf, type Match } from "./live-commit.ts";
import { pay, LiveComparison } from "./live-comparison.ts";
import type { LiveEmitters } from "./live-emitters.ts";
import { itemFrame, parseLivePosition, positionFrame, skippedFrame, type LivePosition, type Skipped } from "./live-frames.ts";
import { commitsBetween } from "./live-gap.ts";

/** Minimum time between two `skipped` events; what is skipped in between is counted. */
const noteMs = 1_000;
const itemsPerTurn = 64;

export interface LiveRequest {
  readonly query: SearchQuery;
  readonly owners: readonly string[];
  /** Id of the last item that the reader received. */
  readonly after: string | undefined;
  readonly user: string;
}

export interface LivePorts {
  readonly emitters: LiveEmitters;
  readonly stream: Pick<EventStream, "receive">;
  readonly runs: Pick<RunMessages, "findNext">;
  readonly gaps: FairSemaphore;
  /** What all live searches of the user may compare. */
  readonly rate: RateEntry;
  readonly turns: Turns;
  /** Matches that may wait. */
  readonly pending: BudgetEntry;
}

/**
 * Compares each commit of some owners with a query, and sends what matches:
 *
 *     RUNS ──▶ commit ──▶ items that match ──▶ pending ──▶ those whose source the caller may see ──▶ stream
 *                 └── more than the rate allows   └── too many    ├── its source is not known yet
 *                                                                 └── too many a second: skipped, which the stream says
 */
export class LiveSearch implements Tail {
  readonly #request: LiveRequest;
  readonly #ports: LivePorts;
  readonly #bounds: LiveBounds;
  readonly #sent: TokenBucket;
  readonly #comparison: LiveComparison;
  readonly #stopping = new AbortController();
  #pending: Match[] = [];
  #isSending = false;
  /** Everything up to this commit was sent. Undefined: the gap is not read yet. */
  #position: number | undefined;
  #skipped = { commits: 0, items: 0 };
  #timer: NodeJS.Timeout | undefined;

  constructor(request: LiveRequest, ports: LivePorts, bounds: LiveBounds = liveBounds) {
    this.#request = request;
    this.#ports = ports;
    this.#bounds = bounds;
    this.#sent = new TokenBucket(bounds.items);
    this.#comparison = new LiveComparison(request.query, {
      ...ports,
      onMatch: (match) => this.#add(match),
      onSkip: () => this.#skip({ commits: 1, items: 0 }),
    });
  }

  /** @throws InvalidInput for an id of another RUNS, Unavailable */
  async before({ first, last }: KeptSequences): Promise<readonly Item[]> {
    const { after } = this.#request;
    const position = after === undefined ? undefined : parseLivePosition(after);
    if (position !== undefined && position.sequence > last)
      throw new InvalidInput(`Last-Event-ID '${after?.slice(0, 80)}' is later than all commits: open the stream without it`);
    const items = position === undefined ? [] : await this.#gapBehind(position, { first, last });
    this.#position = last;
    return [...items, positionFrame(last)];
  }

  receive(message: RunMessage): void {
    if (!this.#isStopped) this.#comparison.add(liveCommitOf(message));
  }

  receiveEmitted(event: EmittedEvent): void {
    if (!this.#isStopped) this.#comparison.add(liveEventOf(event));
  }

  tick(sequence: number): void {
    if (this.#position === undefined || this.#isSending || this.#comparison.hasMore || sequence <= this.#position) return;
    this.#position = sequence;
    this.#ports.stream.receive(undefined, [positionFrame(sequence)]);
  }

  stop(): void {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    this.#comparison.stop();
    this.#pending = [];
    this.#ports.pending.release();
    this.#ports.rate.close();
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #add(match: Match): void {
    if (this.#isStopped) return;
    if (!this.#ports.pending.take(1)) return this.#skip({ commits: 0, items: 1 });
    this.#pending.push(match);
    // Only reading a name can fail, and that is tried again until the search is stopped.
    if (!this.#isSending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let count = 1; ; count++) {
      const match = this.#pending.shift();
      if (match === undefined) break;
      // The network takes what was written only between two turns of the event loop.
      if (count % itemsPerTurn === 0) await setImmediate();
      const frame = await this.#frameOf(match);
      if (this.#isStopped) break;
      this.#ports.pending.release(1);
      if (frame === undefined) continue;
      if (frame === "unknown") this.#skip({ commits: 0, items: 1 });
      else if (this.#sent.take(performance.now())) this.#ports.stream.receive(undefined, [frame]);
      else this.#skip({ commits: 0, items: 1 });
    }
    this.#isSending = false;
  }

  /** Undefined: the query names other sources. "unknown": its source is not known, or not yet. */
  async #frameOf({ found, position }: Match): Promise<Item | "unknown" | undefined> {
    const emitter = await this.#ports.emitters.find(found.candidate.emitter, position?.sequence, this.#stopping.signal);
    if (emitter.outcome === "shown") return itemFrame({ ...found, emitterName: emitter.name }, position);
    return emitter.outcome === "unknown" ? "unknown" : undefined;
  }

  #skip({ commits, items }: { readonly commits: number; readonly items: number }): void {
    this.#skipped = { commits: this.#skipped.commits + commits, items: this.#skipped.items + items };
    if (this.#timer === undefined) this.#noteSkipped();
  }

  /** Reports the first skip at once: a client that loses its connection after it still knows that matches are missing. */
  #noteSkipped(): void {
    this.#timer = undefined;
    if (this.#skipped.commits + this.#skipped.items === 0) return;
    this.#ports.stream.receive(undefined, [skippedFrame(this.#skipped)]);
    this.#skipped = { commits: 0, items: 0 };
    this.#timer = setTimeout(() => this.#noteSkipped(), noteMs);
  }

  /** Nothing once the reader has left, also while it waits for its turn. */
  async #gapBehind(position: LivePosition, kept: KeptSequences): Promise<readonly Item[]> {
    const { signal } = this.#stopping;
    try {
      return await this.#ports.gaps.use(this.#request.user, () => this.#readGap(position, kept), signal);
    } catch (error) {
      if (signal.aborted) return [];
      throw error;
    }
  }

  /** What was committed since the last connection, as far as RUNS has it and the bounds allow. */
  async #readGap(after: LivePosition, { first, last }: KeptSequences): Promise<readonly Item[]> {
    const { gap } = this.#bounds;
    const { runs, rate } = this.#ports;
    const { owners, query } = this.#request;
    const frames: Item[] = after.sequence + 1 < first ? [skippedFrame(unknownNumber)] : [];
    let [commits, bytes, items, unknown] = [0, 0, 0, 0];
    for await (const message of commitsBetween(runs, { owners, from: after.sequence, to: last })) {
      if (this.#isStopped) return [];
      const commit = LiveCommit.ofMessage(message);
      commits++;
      bytes += message.bytes;
      if (commits > gap.commits || bytes > gap.bytes || !pay(commit, query, rate)) return [...frames, skippedFrame(unknownNumber)];
      for await (const match of this.#matchesIn(commit)) {
        if (items >= gap.items) return [...frames, skippedFrame(unknownNumber)];
        const isSent = message.sequence === after.sequence && (match.position?.index ?? 0) <= after.index;
        const frame = isSent ? undefined : await this.#frameOf(match);
        if (frame === undefined) continue;
        items++;
        if (frame === "unknown") unknown++;
        else frames.push(frame);
      }
    }
    return unknown === 0 ? frames : [...frames, skippedFrame({ commits: 0, items: unknown })];
  }

  async *#matchesIn(commit: LiveCommit): AsyncGenerator<Match> {
    const { query } = this.#request;
    const { rate } = this.#ports;
    let cost = commit.bytes;
    for (const [index, item] of commit.items.entries()) {
      const match = commit.match(index, query);
      if (match !== undefined) {
        rate.charge(costOfMatch);
        yield match;
      }
      cost += costOf(item, query);
      if (cost < liveBounds.costPerTurn) continue;
      cost = 0;
      await setImmediate();
    }
  }
}

const unknownNumber: Skipped = { commits: null, items: 0 };
