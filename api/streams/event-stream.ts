import type { ServerResponse } from "node:http";
import { isDerived } from "../../domain/event/committed-event.ts";
import { compareEventIds } from "../../domain/event/event-id.ts";
import { comment, handshake, type Item } from "./frames.ts";
import type { UnreadShare } from "./unread-bytes.ts";

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  // Proxies must neither store nor compress the stream, which would delay events.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const;

/** A reader that takes nothing of the queued frames for so many ticks is disconnected. */
const maxStalledTicks = 4;

const heldTooMuch = "the streams of this user hold too much that is not read";

export interface EventStreamOptions {
  readonly channel: string | undefined;
  /** Id of the last event that the reader received. */
  readonly after: string | undefined;
  /** Whether ids of events grow with each commit. Runs of a workflow go side by side, so theirs do not. */
  readonly isOrdered: boolean;
  /** The stream ends when more than this is queued for the reader. */
  readonly waitingBytes: number;
  /** What is queued for the reader, within the share of the user. */
  readonly unread: UnreadShare;
}

/**
 * One reader's stream. States: buffering (live items wait until the gap before them is written) → live → over. When it is over, the
 * response ends, or is destroyed at the second tick if the reader does not read its end.
 */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #options: EventStreamOptions;
  #buffered: Item[] | undefined = [];
  #bufferedBytes = 0;
  #gapBytes = 0;
  #endsInGap = false;
  #hasMissed = false;
  #firstLive: number | undefined;
  #after: string | undefined;
  /** Without order: ids of the events before the live ones. */
  #sent: Set<string> | undefined;
  #isOver = false;
  /** Last frame of a stream that was over before it began. */
  #lastFrame = "";
  #ticksOver = 0;
  /** Number of frames written to the network, now and at the last tick, and the number of ticks without a change. */
  #written = 0;
  #writtenBefore = 0;
  #stalledTicks = 0;

  constructor(response: ServerResponse, options: EventStreamOptions) {
    this.#response = response;
    this.#options = options;
    this.#after = options.after;
  }

  /** Sequence of the first live commit. */
  get firstLive(): number | undefined {
    return this.#firstLive;
  }

  /** Whether the response has begun. */
  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** Receives the items of a commit, in the order of commits. Without a sequence, items that belong to no commit. */
  receive(sequence: number | undefined, items: readonly Item[]): void {
    this.#firstLive ??= sequence;
    for (const item of items) {
      if (this.#isOver) return;
      if (this.#buffered === undefined) this.#send(item);
      else this.#buffer(this.#buffered, item);
    }
  }

  /** States how many bytes of the gap are in memory. False: the stream ends behind what was read of the gap. */
  hold(gapBytes: number): boolean {
    this.#gapBytes = gapBytes;
    if (this.#options.unread.set(this.#queuedBytes)) return true;
    this.#gapBytes = 0;
    this.#endsInGap = true;
    return false;
  }

  /** Starts the response, writes the gap at the reader's pace, and then live items. */
  async begin(gap: AsyncIterable<Item>): Promise<void> {
    if (this.#response.destroyed) return;
    // The client must notice the end of the stream at once, and no idle connection must stay open.
    this.#response.shouldKeepAlive = false;
    this.#response.writeHead(200, headers);
    this.#write(handshake);
    if (this.#isOver) return void this.#response.end(this.#lastFrame);
    if (!this.#options.isOrdered) this.#sent = new Set();
    for await (const item of gap) {
      await this.#drained();
      if (this.#isOver) return;
      this.#send(item);
      if (item.id !== undefined) this.#sent?.add(item.id);
    }
    if (this.#isOver) return;
    if (this.#endsInGap) return this.#cutOff(heldTooMuch);
    const live = this.#buffered ?? [];
    this.#buffered = undefined;
    [this.#bufferedBytes, this.#gapBytes] = [0, 0];
    for (const item of live) this.#send(item, Infinity);
    this.#sent = undefined; // Later commits are not among those of the gap.
    if (this.#hasMissed) this.#cutOff(this.#tooMuch());
  }

  /** Keeps the stream open for proxies, and detects readers that stopped reading. */
  tick(): void {
    if (this.#isOver) {
      if (++this.#ticksOver > 1) this.#response.destroy();
      return;
    }
    if (!this.hasBegun) return;
    const isQueued = this.#response.writableLength > 0;
    this.#stalledTicks = isQueued && this.#written === this.#writtenBefore ? this.#stalledTicks + 1 : 0;
    this.#writtenBefore = this.#written;
    if (this.#stalledTicks >= maxStalledTicks) this.#cutOff("nothing was read for too long");
    else if (!isQueued) this.#write(handshake);
  }

  /** Ends the stream with a last frame. */
  end(frame: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#buffered = undefined;
    [this.#bufferedBytes, this.#gapBytes] = [0, 0];
    if (this.hasBegun) this.#response.end(frame);
    else this.#lastFrame = frame;
  }

  /** Drops queued frames, because the reader is gone. */
  destroy(): void {
    this.#isOver = true;
    this.#response.destroy();
  }

  #buffer(buffered: Item[], item: Item): void {
    if (this.#hasMissed || !this.#isSelected(item)) return;
    // No item may follow an omitted one: the stream writes its buffer, and ends.
    const bytes = Buffer.byteLength(item.frame);
    this.#hasMissed = this.#bufferedBytes > this.#options.waitingBytes || !this.#options.unread.set(this.#queuedBytes + bytes);
    if (this.#hasMissed) return;
    buffered.push(item);
    this.#bufferedBytes += bytes;
  }

  #send(item: Item, maxQueuedBytes = this.#options.waitingBytes): void {
    const { id } = item;
    if (this.#isOver || (id !== undefined && this.#isRepeated(id))) return;
    if (this.#isSelected(item)) {
      // Check before the write: a reader without queued frames gets an event of any size.
      if (this.#response.writableLength > maxQueuedBytes) return this.#cutOff(this.#tooMuch());
      if (!this.#write(item.frame)) return;
    }
    this.#after = id ?? this.#after;
  }

  #isRepeated(id: string): boolean {
    if (this.#options.isOrdered) return this.#after !== undefined && compareEventIds(id, this.#after) <= 0;
    return id === this.#options.after || this.#sent?.has(id) === true;
  }

  #isSelected({ channel, id, isEvent }: Item): boolean {
    return this.#options.channel === undefined ? id !== undefined || isEvent === true : channel === this.#options.channel;
  }

  /** Bytes in memory for the reader. */
  get #queuedBytes(): number {
    return this.#gapBytes + this.#bufferedBytes + this.#response.writableLength;
  }

  /** A reader without queued frames costs nothing if the network takes the frame at once. False: the stream is over. */
  #write(frame: string): boolean {
    const { unread } = this.#options;
    if (this.#response.writableLength > 0 && !unread.set(this.#queuedBytes + Buffer.byteLength(frame))) {
      this.#cutOff(heldTooMuch);
      return false;
    }
    this.#response.write(frame, () => {
      this.#written++;
      if (!this.#response.destroyed) unread.set(this.#queuedBytes);
    });
    if (unread.set(this.#queuedBytes)) return true;
    this.destroy();
    return false;
  }

  /** Resolves when queued frames are written, or the reader is gone. */
  async #drained(): Promise<void> {
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
        : `open it again with the header 'Last-Event-ID: ${this.#after}' to continue without a gap`;
    this.end(comment(`this stream was cut off, ${why}: ${resume}`));
  }

  #tooMuch(): string {
    return `more than ${this.#options.waitingBytes} bytes waited to be read`;
  }
}
