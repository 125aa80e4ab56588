import type { ServerResponse } from "node:http";
import type { EmittedEvent } from "../../domain/emitted-event.ts";
import { Unavailable } from "../../domain/errors.ts";
import { partitionOf } from "../../domain/partition.ts";
import { runSubject } from "../../domain/subjects.ts";
import type { ApiPorts } from "../ports.ts";
import { itemsOf } from "./commit-items.ts";
import { EventStream } from "./event-stream.ts";
import { comment, emittedItem } from "./frames.ts";
import { readGap } from "./gap.ts";
import { OpenStreams, stepsPerTurn, type Open, type StreamRequest } from "./open-streams.ts";
import type { RunMessage, StreamPorts } from "./ports.ts";

type Followed = Pick<StreamPorts, "runs" | "followEmitted">;

/** Access is looked at once in so many turns. */
const turnsPerCheck = 4;
/** Told to whoever has too many open: by then, readers that left without a word have been found out (`event-stream.ts`). */
const retryAfterS = 60;
/** For how long the end of the process waits for readers to take their last bytes. */
const lastWordsMs = 1_000;

/**
 * All streams that are open. They share one reader of RUNS, which is there while any stream is, and one timer, whose steps
 * go round all of them: a stream costs its response, an entry here and what waits for its reader.
 */
export class Streams {
  readonly #ports: Pick<ApiPorts, "history" | "log" | "randomBytes">;
  readonly #streaming: StreamPorts | undefined;
  readonly #open: OpenStreams;
  #reading: Promise<{ stop(): Promise<void> }> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #steps = 0;
  #isChecking = false;
  #isStopping = false;

  /** @param perKey how many one API key may have open */
  constructor(ports: Pick<ApiPorts, "history" | "log" | "randomBytes">, streaming: StreamPorts | undefined, perKey: number) {
    this.#ports = ports;
    this.#streaming = streaming;
    this.#open = new OpenStreams(perKey);
    streaming?.stopping.addEventListener("abort", () => this.#end(), { once: true });
  }

  /** Resolves when the gap is told; the stream goes on. @throws Unavailable, QuotaExceeded before anything is answered */
  async open(request: StreamRequest, response: ServerResponse): Promise<void> {
    if (this.#streaming === undefined || this.#isStopping)
      throw new Unavailable("streams are not to be had here now: try again in a moment");
    const { runs, waitingBytes = 2 ** 20, keepAliveMs = 15_000 } = this.#streaming;
    if (response.destroyed) return; // Its reader has left meanwhile, and nothing would tell of it again.
    const stream = new EventStream(response, {
      channel: request.channel,
      after: request.from.kind === "after" ? request.from.id : undefined,
      waitingBytes,
    });
    const leave = this.#join({ stream, request }, response);
    this.#timer ??= setInterval(() => this.#step(), keepAliveMs / stepsPerTurn);
    response.once("close", leave);
    try {
      await this.#read(this.#streaming);
      const gap = await readGap({ history: this.#ports.history, runs }, request, request.from, () => stream.firstHeard);
      await stream.begin(gap);
    } catch (error) {
      leave();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#end();
    await this.#rest();
  }

  /** Ends every stream, so that its client comes back to whoever takes over; none is opened any more. */
  #end(): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    for (const { stream } of this.#open.all()) {
      // Not all in the same moment.
      const [random = 0] = this.#ports.randomBytes(1);
      stream.end(`retry: ${1_000 + random * 8}\n${comment("this server stops: connect again")}`);
    }
    setTimeout(() => this.#open.all().forEach(({ stream }) => stream.destroy()), lastWordsMs).unref();
  }

  #join(open: Open, response: ServerResponse): () => void {
    const leave = this.#joinOthers(open, response);
    const leaving = new AbortController();
    // Never rejects: it looks at what a watch tells.
    void open.request.untilGone(leaving.signal).then((isGone) => {
      if (isGone) open.stream.end(comment("the source was deleted"));
    });
    return () => {
      leaving.abort();
      leave();
    };
  }

  #joinOthers(open: Open, response: ServerResponse): () => void {
    try {
      return this.#open.join(open);
    } catch (error) {
      response.setHeader("retry-after", retryAfterS);
      throw error;
    }
  }

  /** Resolves when whatever is committed from now on is heard. */
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
    // One that is being stopped must say nothing beside the next.
    const following = runs.follow((message) => {
      if (this.#reading === reading) this.#hear(message);
    });
    const end = followEmitted?.((event) => {
      if (this.#reading === reading) this.#hearEmitted(event);
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

  #hearEmitted(event: EmittedEvent): void {
    const open = this.#open.of(runSubject(partitionOf(event.source), event.owner, event.source));
    if (open === undefined) return;
    const item = emittedItem(event);
    for (const { stream } of open) stream.hear(undefined, [item]);
  }

  /** Commits of sources that nobody follows are not even decoded. */
  #hear(message: RunMessage): void {
    const open = this.#open.of(message.subject);
    if (open === undefined) return;
    const items = itemsOf(message);
    for (const { stream } of open) stream.hear(message.sequence, items);
  }

  #step(): void {
    const step = this.#steps++;
    for (const { stream } of this.#open.at(step)) stream.tick();
    if (this.#steps % stepsPerTurn !== 0) return;
    if (this.#open.isEmpty) void this.#rest(); // Logs its own failure.
    else if (this.#steps % (turnsPerCheck * stepsPerTurn) === 0) void this.#checkReaders(); // Logs its own failure.
  }

  /** One look for all streams of one reader. While nobody can be asked, streams go on. */
  async #checkReaders(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    for (const [, streams] of Map.groupBy(this.#open.all(), ({ request }) => request.reader)) {
      try {
        if (await streams[0]?.request.mayRead()) continue;
        for (const { stream } of streams) stream.end(comment("the API key does not reach this source any more"));
      } catch (error) {
        this.#ports.log.warn({ op: "stream.check", err: error }, "it cannot be told whether readers may read on");
      }
    }
    this.#isChecking = false;
  }

  /** Nobody listens: neither do we. */
  async #rest(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const reading = this.#reading;
    this.#reading = undefined;
    try {
      await (await reading)?.stop();
    } catch (error) {
      this.#ports.log.warn({ op: "stream.rest", err: error }, "the reader of runs could not be stopped in good order");
    }
  }
}
