import type { ServerResponse } from "node:http";
import type { EmittedEvent } from "../../domain/event/emitted-event.ts";
import { Unavailable } from "../../domain/errors.ts";
import { kindOfId } from "../../domain/ids.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { partsOfRun, runSubject } from "../../domain/subjects.ts";
import type { ApiPorts } from "../ports.ts";
import { itemsOf } from "./commit-items.ts";
import { EventStream, type EventStreamOptions } from "./event-stream.ts";
import { comment, emittedItem, type Item } from "./frames.ts";
import { readGap } from "./gap.ts";
import type { ApiConfig } from "../config.ts";
import { OpenStreams, stepsPerTurn, type Open, type StreamReader, type StreamRequest, type TailRequest } from "./open-streams.ts";
import { defaultUnreadLimits, UnreadBytes } from "./unread-bytes.ts";
import type { RunMessage, StreamPorts } from "./ports.ts";

/** The subject of the emitter's commits: each run of a workflow has one below it. */
const emitterSubject = (subject: string): string => subject.split(".", 4).join(".");

/** What two kinds of streams have in common. */
interface Opening {
  readonly reader: StreamReader;
  readonly options: Pick<EventStreamOptions, "channel" | "after" | "isOrdered">;
  readonly openOf: (stream: EventStream) => Open;
  /** The items before the live ones. */
  readonly before: (stream: EventStream, open: Open) => Promise<AsyncIterable<Item>>;
}

type Followed = Pick<StreamPorts, "runs" | "followEmitted">;

async function* eachOf(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/** Access is checked every so many turns. */
const turnsPerCheck = 4;
/** For users at their limit: by then, readers that vanished without closing are detected (`event-stream.ts`). */
const retryAfterS = 60;
/** How long a stopping process waits for readers to take their last bytes. */
const maxDrainMs = 1_000;

/**
 * All open streams. They share one reader of RUNS, which runs while any stream is open, and one timer whose steps
 * cover all of them. A stream costs its response, a map entry, and its queued frames.
 */
export class Streams {
  readonly #ports: Pick<ApiPorts, "history" | "log" | "randomBytes">;
  readonly #streaming: StreamPorts | undefined;
  readonly #open: OpenStreams;
  readonly #unread: UnreadBytes;
  #reading: Promise<{ stop(): Promise<void> }> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #steps = 0;
  /** Of the last message on RUNS. */
  #sequence = 0;
  #isChecking = false;
  #isStopping = false;

  /** Streams leave half of the connections, and a part of each user's share, to requests. */
  constructor(
    ports: Pick<ApiPorts, "history" | "log" | "randomBytes">,
    streaming: StreamPorts | undefined,
    { streamsPerUser, maxConnections, liveSearches }: Pick<ApiConfig, "streamsPerUser" | "maxConnections" | "liveSearches">,
  ) {
    this.#ports = ports;
    this.#streaming = streaming;
    const limits = { perUser: Math.min(streamsPerUser, Math.ceil(maxConnections / 4)), total: Math.ceil(maxConnections / 2) };
    this.#open = new OpenStreams(limits, liveSearches);
    this.#unread = new UnreadBytes(streaming?.unread ?? defaultUnreadLimits);
    streaming?.stopping.addEventListener("abort", () => this.#end(), { once: true });
  }

  /** Resolves when the gap is written; the stream continues. @throws Unavailable, QuotaExceeded before the response begins */
  async open(request: StreamRequest, response: ServerResponse): Promise<void> {
    const { runs } = this.#ready();
    const { source, subject, channel, from } = request;
    const leaving = new AbortController();
    response.once("close", () => leaving.abort());
    await this.#start(response, {
      reader: request,
      options: { channel, after: from.kind === "after" ? from.id : undefined, isOrdered: kindOfId(source) !== "workflow" },
      openOf: (stream) => {
        // Never rejects: it reads from a watch.
        void request.untilGone(leaving.signal).then((isGone) => {
          if (isGone) stream.end(comment(`the ${kindOfId(source) ?? "source"} was deleted`));
        });
        return { stream, reader: request, keys: [subject] };
      },
      before: (stream) => {
        const reader = { firstLive: () => stream.firstLive, hold: (bytes: number) => stream.hold(bytes) };
        return readGap({ history: this.#ports.history, runs }, request, from, reader);
      },
    });
  }

  /** The same for a tail. */
  async openTail(request: TailRequest, response: ServerResponse): Promise<void> {
    const { runs } = this.#ready();
    await this.#start(response, {
      reader: request,
      options: { channel: undefined, after: request.after, isOrdered: true },
      openOf: (stream) => {
        const tail = request.start(stream, runs);
        response.once("close", () => tail.stop());
        return { stream, reader: request, keys: request.owners, tail };
      },
      // Read after following has begun: every commit after `last` is then received.
      before: async (stream, { tail }) => {
        const items = (await tail?.before(await runs.kept())) ?? [];
        stream.hold(items.reduce((sum, { frame }) => sum + Buffer.byteLength(frame), 0));
        return eachOf(items);
      },
    });
  }

  #ready(): StreamPorts {
    if (this.#streaming === undefined || this.#isStopping) throw new Unavailable("this server has no streams now: try again in a moment");
    return this.#streaming;
  }

  async #start(response: ServerResponse, { reader, options, openOf, before }: Opening): Promise<void> {
    const streaming = this.#ready();
    const { waitingBytes = 2 ** 20, keepAliveMs = 15_000 } = streaming;
    if (response.destroyed) return; // The reader left, and there will be no further event of that.
    const unread = this.#unread.open(reader.user.id, () => stream.destroy());
    const stream = new EventStream(response, { unread, waitingBytes, ...options });
    const open = openOf(stream);
    const leave = this.#join(open, response);
    this.#timer ??= setInterval(() => this.#step(), keepAliveMs / stepsPerTurn);
    response.once("close", () => {
      unread.set(0);
      leave();
    });
    try {
      await this.#read(streaming);
      await stream.begin(await before(stream, open));
    } catch (error) {
      leave();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#end();
    await this.#stopReading();
  }

  /** Ends every stream, so that clients reconnect to another server, and refuses new ones. */
  #end(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    for (const { stream } of this.#open.all()) {
      // Spread the reconnects.
      const [random = 0] = this.#ports.randomBytes(1);
      stream.end(`retry: ${1_000 + random * 8}\n${comment("this server stops: connect again")}`);
    }
    setTimeout(() => this.#open.all().forEach(({ stream }) => stream.destroy()), maxDrainMs).unref();
  }

  #join(open: Open, response: ServerResponse): () => void {
    try {
      return this.#open.join(open);
    } catch (error) {
      response.setHeader("retry-after", retryAfterS);
      throw error;
    }
  }

  /** Resolves when all later commits are received. */
  async #read(ports: Followed): Promise<void> {
    const reading = (this.#reading ??= this.#follow(ports));
    try {
      await reading;
    } catch (error) {
      if (this.#reading === reading) this.#reading = undefined;
      throw error;
    }
  }

  #follow({ runs, followEmitted }: Followed): Promise<{ stop(): Promise<void> }> {
    this.#sequence = 0; // The last message of this reader: RUNS may be another stream than before.
    // A reader that is being stopped must not report beside the next one.
    const following = runs.follow((message) => {
      if (this.#reading === reading) this.#receive(message);
    });
    const end = followEmitted?.((event) => {
      if (this.#reading === reading) this.#receiveEmitted(event);
    });
    const reading: Promise<{ stop(): Promise<void> }> = following.then(
      ({ stop }) => ({
        stop: async () => {
          end?.();
          await stop();
        },
      }),
      (error: unknown) => {
        end?.();
        throw error;
      },
    );
    return reading;
  }

  #receiveEmitted(event: EmittedEvent): void {
    const open = this.#open.of(runSubject(partitionOf(event.source), event.owner, event.source));
    const items = open === undefined ? [] : [emittedItem(event)];
    for (const { stream } of open ?? []) stream.receive(undefined, items);
    for (const { tail } of this.#open.of(event.owner) ?? []) tail?.receiveEmitted(event);
  }

  /** Does not decode commits of sources and owners without open streams. */
  #receive(message: RunMessage): void {
    this.#sequence = message.sequence;
    const open = this.#open.of(emitterSubject(message.subject));
    const items = open === undefined ? [] : itemsOf(message);
    for (const { stream } of open ?? []) stream.receive(message.sequence, items);
    for (const { tail } of this.#open.of(partsOfRun(message.subject).owner) ?? []) tail?.receive(message);
  }

  #step(): void {
    const step = this.#steps++;
    for (const { stream, tail } of this.#open.at(step)) {
      tail?.tick(this.#sequence);
      stream.tick();
    }
    if (this.#steps % stepsPerTurn !== 0) return;
    if (this.#open.isEmpty) void this.#stopReading(); // Logs its own failure.
    else if (this.#steps % (turnsPerCheck * stepsPerTurn) === 0) void this.#checkReaders(); // Logs its own failure.
  }

  /** Checks access once for all streams of one reader. Streams continue while it cannot be checked. */
  async #checkReaders(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    for (const [, streams] of Map.groupBy(this.#open.all(), ({ reader }) => reader.reader)) {
      try {
        if (await streams[0]?.reader.mayRead()) continue;
        for (const { stream, reader } of streams) stream.end(comment(reader.refusal));
      } catch (error) {
        this.#ports.log.warn({ op: "stream.check", err: error }, "cannot check whether readers still have access");
      }
    }
    this.#isChecking = false;
  }

  /** Stops the reader of RUNS, because no stream is open. */
  async #stopReading(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const reading = this.#reading;
    this.#reading = undefined;
    try {
      await (await reading)?.stop();
    } catch (error) {
      this.#ports.log.warn({ op: "stream.rest", err: error }, "the reader of RUNS could not be stopped gracefully");
    }
  }
}
