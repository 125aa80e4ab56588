import { setImmediate } from "node:timers/promises";
import { InvalidInput } from "../../domain/errors.ts";
import type { EmittedEvent } from "../../domain/event/emitted-event.ts";
import type { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";
import type { BudgetEntry } from "../../domain/limits/budget.ts";
import type { RateShare } from "../../domain/limits/shared-rate.ts";
import { TokenBucket } from "../../domain/limits/token-bucket.ts";
import { readCommit } from "../../domain/run/read-commit.ts";
import { isAskedFor, itemOfEmitted, itemsOfCommit, type CommittedItem } from "../../domain/search/committed.ts";
import { findIn } from "../../domain/search/found.ts";
import type { SearchQuery } from "../../domain/search/query.ts";
import type { EventStream } from "../streams/event-stream.ts";
import type { Item } from "../streams/frames.ts";
import type { Tail } from "../streams/open-streams.ts";
import type { KeptSequences, RunMessage, RunMessages } from "../streams/ports.ts";
import { liveBounds, type LiveBounds } from "../streams/live-bounds.ts";
import type { LiveEmitters } from "./live-emitters.ts";
import { itemFrame, parseLivePosition, positionFrame, skippedFrame, type LivePosition } from "./live-frames.ts";
import { commitsBetween } from "./live-gap.ts";
import type { FoundItem } from "./search.ts";

/** After the stream has said that something is skipped, it counts for so long before it says so again. */
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
  /** Bytes of commits that may be compared. */
  readonly commits: RateShare;
  /** Matches that may wait. */
  readonly pending: BudgetEntry;
}

interface Match {
  readonly found: Omit<FoundItem, "emitterName">;
  readonly position: LivePosition | undefined;
}

/**
 * Compares each commit of some owners with a query, and sends what matches:
 *
 *     RUNS ──▶ commit ──▶ items that match ──▶ pending ──▶ those whose source the caller may see ──▶ stream
 *                 └── more than the share of bytes    └── too many    └── too many a second: skipped, which the stream says
 */
export class LiveSearch implements Tail {
  readonly #request: LiveRequest;
  readonly #ports: LivePorts;
  readonly #bounds: LiveBounds;
  readonly #sent: TokenBucket;
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
  }

  /** @throws InvalidInput for an id of another RUNS, Unavailable */
  async before({ first, last }: KeptSequences): Promise<readonly Item[]> {
    const { after, user } = this.#request;
    const position = after === undefined ? undefined : parseLivePosition(after);
    if (position !== undefined && position.sequence > last)
      throw new InvalidInput(`Last-Event-ID '${after?.slice(0, 80)}' is later than all commits: open the stream without it`);
    const items = position === undefined ? [] : await this.#ports.gaps.use(user, () => this.#readGap(position, { first, last }));
    this.#position = last;
    return [...items, positionFrame(last)];
  }

  receive(message: RunMessage): void {
    if (this.#isStopped) return;
    if (!this.#ports.commits.use(message.bytes, performance.now())) return this.#skip({ commits: 1, items: 0 });
    for (const match of this.#matchesIn(message)) this.#add(match);
  }

  receiveEmitted(event: EmittedEvent): void {
    const item = itemOfEmitted(event);
    if (this.#isStopped || item === undefined) return;
    if (!this.#ports.commits.use(Buffer.byteLength(event.payload), performance.now())) return this.#skip({ commits: 1, items: 0 });
    const match = matchOf(item, this.#request.query, undefined);
    if (match !== undefined) this.#add(match);
  }

  tick(sequence: number): void {
    if (this.#position === undefined || this.#isSending || sequence <= this.#position) return;
    this.#position = sequence;
    this.#ports.stream.receive(undefined, [positionFrame(sequence)]);
  }

  stop(): void {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    this.#pending = [];
    this.#ports.pending.release();
    this.#ports.commits.close();
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #matchesIn(message: RunMessage): readonly Match[] {
    const commit = readCommit(message.text(), message.subject);
    if (commit === undefined) return [];
    const { query } = this.#request;
    return itemsOfCommit(commit).flatMap((item, index) => matchOf(item, query, { sequence: message.sequence, index }) ?? []);
  }

  #add(match: Match): void {
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
      if (this.#sent.take(performance.now())) this.#ports.stream.receive(undefined, [frame]);
      else this.#skip({ commits: 0, items: 1 });
    }
    this.#isSending = false;
  }

  /** Undefined: the caller may not see its source, or the query names others. */
  async #frameOf({ found, position }: Match): Promise<Item | undefined> {
    const emitterName = await this.#ports.emitters.nameOf(found.candidate.emitter, this.#stopping.signal);
    return emitterName === undefined ? undefined : itemFrame({ ...found, emitterName }, position);
  }

  #skip({ commits, items }: { readonly commits: number; readonly items: number }): void {
    this.#skipped = { commits: this.#skipped.commits + commits, items: this.#skipped.items + items };
    if (this.#timer === undefined) this.#noteSkipped();
  }

  /** The first of them at once: who receives what follows knows that something is missing, even if the connection is lost then. */
  #noteSkipped(): void {
    this.#timer = undefined;
    if (this.#skipped.commits + this.#skipped.items === 0) return;
    this.#ports.stream.receive(undefined, [skippedFrame(this.#skipped)]);
    this.#skipped = { commits: 0, items: 0 };
    this.#timer = setTimeout(() => this.#noteSkipped(), noteMs);
  }

  /** What was committed since the last connection, as far as RUNS has it and the bounds allow. */
  async #readGap({ sequence, index }: LivePosition, { first, last }: KeptSequences): Promise<readonly Item[]> {
    if (this.#isStopped) return [];
    const { gap } = this.#bounds;
    const frames: Item[] = sequence + 1 < first ? [skippedFrame({ commits: null, items: 0 })] : [];
    let [commits, bytes] = [0, 0];
    for await (const message of commitsBetween(this.#ports.runs, { owners: this.#request.owners, from: sequence, to: last })) {
      if (this.#isStopped) break;
      commits++;
      bytes += message.bytes;
      if (commits > gap.commits || bytes > gap.bytes) return [...frames, skippedFrame({ commits: null, items: 0 })];
      for (const match of this.#matchesIn(message)) {
        if (frames.length > gap.items) return [...frames, skippedFrame({ commits: null, items: 0 })];
        const isSent = message.sequence === sequence && (match.position?.index ?? 0) <= index;
        const frame = isSent ? undefined : await this.#frameOf(match);
        if (frame !== undefined) frames.push(frame);
      }
    }
    return frames;
  }
}

function matchOf(item: CommittedItem, query: SearchQuery, position: LivePosition | undefined): Match | undefined {
  const found = isAskedFor(item, query) ? findIn(item, query) : undefined;
  if (found === undefined) return undefined;
  const { head: _head, body: _body, ...candidate } = item;
  // A part of a string keeps the whole in memory.
  const excerpt = Buffer.from(found.excerpt, "utf16le").toString("utf16le");
  return { found: { ...found, excerpt, candidate }, position };
}
