import type { ServerResponse } from "node:http";
import { isDerived } from "../../domain/derived-events.ts";
import { compareEventIds } from "../../domain/event-id.ts";
import { comment, handshake, type Item } from "./frames.ts";

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  // Not to be kept, and not to be compressed on the way either: that would hold events back.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const;

/** So many ticks without taking anything of what waits, and a reader counts as gone. */
const mostStalledTicks = 4;

export interface EventStreamOptions {
  readonly channel: string | undefined;
  /** Id of the event that the reader saw last. */
  readonly after: string | undefined;
  /** Once more than this waits for the reader, nothing is added. */
  readonly waitingBytes: number;
}

/**
 * One reader's stream. States: gathering (what is heard waits until the gap before it is told) → live → over, from where the response
 * ends or, when nobody reads its end, is destroyed at the second tick.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #options: EventStreamOptions;
  #gathered: Item[] | undefined = [];
  #gatheredCharacters = 0;
  #hasMissed = false;
  #firstHeard: number | undefined;
  #after: string | undefined;
  #isOver = false;
  /** Of a stream that was over before it began. */
  #lastFrame = "";
  #ticksOver = 0;
  /** Frames that have left for the network; what it was at the last tick, and for how many ticks it has stood still. */
  #left = 0;
  #leftBefore = 0;
  #stalledTicks = 0;

  constructor(response: ServerResponse, options: EventStreamOptions) {
    this.#response = response;
    this.#options = options;
    this.#after = options.after;
  }

  /** Sequence of the first commit that it heard live. */
  get firstHeard(): number | undefined {
    return this.#firstHeard;
  }

  /** Has anything been answered? */
  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** What a commit contains, in the order of commits. Without a sequence: what is of no commit. */
  hear(sequence: number | undefined, items: readonly Item[]): void {
    this.#firstHeard ??= sequence;
    for (const item of items) {
      if (this.#isOver) return;
      if (this.#gathered === undefined) this.#tell(item);
      else this.#gather(this.#gathered, item);
    }
  }

  /** Answers, tells the gap at the pace of the reader, and from then on what is heard. */
  async begin(gap: readonly Item[]): Promise<void> {
    if (this.#response.destroyed) return;
    // The end of a stream is to be seen by the client at once, and leaves no connection behind that is kept for nothing.
    this.#response.shouldKeepAlive = false;
    this.#response.writeHead(200, headers);
    this.#write(handshake);
    if (this.#isOver) return void this.#response.end(this.#lastFrame);
    for (const item of gap) {
      await this.#room();
      if (this.#isOver) return;
      this.#tell(item);
    }
    const heard = this.#gathered ?? [];
    this.#gathered = undefined;
    for (const item of heard) this.#tell(item, Infinity);
    if (this.#hasMissed) this.#cutOff(this.#tooMuch());
  }

  /** Keeps the stream open for proxies, and finds out whether anybody reads. */
  tick(): void {
    if (this.#isOver) {
      if (++this.#ticksOver > 1) this.#response.destroy();
      return;
    }
    if (!this.hasBegun) return;
    const waits = this.#response.writableLength > 0;
    this.#stalledTicks = waits && this.#left === this.#leftBefore ? this.#stalledTicks + 1 : 0;
    this.#leftBefore = this.#left;
    if (this.#stalledTicks >= mostStalledTicks) this.#cutOff("nothing was read for too long");
    else if (!waits) this.#write(handshake);
  }

  /** The last that the reader gets. */
  end(frame: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#gathered = undefined;
    if (this.hasBegun) this.#response.end(frame);
    else this.#lastFrame = frame;
  }

  /** Nobody reads: what waits is given up. */
  destroy(): void {
    this.#isOver = true;
    this.#response.destroy();
  }

  #gather(gathered: Item[], item: Item): void {
    if (this.#hasMissed || !this.#wants(item)) return;
    // Nothing may follow what was left out: the stream tells what it has, and ends.
    this.#hasMissed = this.#gatheredCharacters > this.#options.waitingBytes;
    if (this.#hasMissed) return;
    gathered.push(item);
    this.#gatheredCharacters += item.frame.length;
  }

  #tell(item: Item, most = this.#options.waitingBytes): void {
    const { id } = item;
    if (this.#isOver || (id !== undefined && this.#after !== undefined && compareEventIds(id, this.#after) <= 0)) return;
    if (this.#wants(item)) {
      // Looked at before and not after: a single event of any size goes to a reader for whom nothing waits.
      if (this.#response.writableLength > most) return this.#cutOff(this.#tooMuch());
      this.#write(item.frame);
    }
    this.#after = id ?? this.#after;
  }

  #wants({ channel, id, isEvent }: Item): boolean {
    return this.#options.channel === undefined ? id !== undefined || isEvent === true : channel === this.#options.channel;
  }

  #write(frame: string): void {
    this.#response.write(frame, () => this.#left++);
  }

  /** Resolves when what waits has been taken, or nobody is there to take it. */
  async #room(): Promise<void> {
    const response = this.#response;
    if (!response.writableNeedDrain || response.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off("drain", done).off("close", done);
        resolve();
      };
      response.on("drain", done).on("close", done);
    });
  }

  #cutOff(why: string): void {
    const resume =
      this.#after === undefined || isDerived(this.#options.channel)
        ? "open it again"
        : `open it again with the header 'Last-Event-ID: ${this.#after}' to go on without a gap`;
    this.end(comment(`this stream was cut off, ${why}: ${resume}`));
  }

  #tooMuch(): string {
    return `more than ${this.#options.waitingBytes} bytes waited to be read`;
  }
}
