import { z } from "zod";
import { buckets, streams } from "../../domain/subjects.ts";
import { Bucket } from "./bucket.ts";
import type { Connection } from "./connection.ts";
import { isMissing } from "./missing.ts";

/** How far delivery has come on RUNS: every commit up to these sequences is routed, and recorded. Floors only grow. */
export interface Floors {
  /** Tells RUNS from an earlier stream of that name, which counted from 1 as well. */
  readonly stream: string;
  readonly routed: number;
  readonly recorded: number;
}

const floorsEntry = z.object({ stream: z.string(), routed: z.int().min(0), recorded: z.int().min(0) });
/** The only key of the bucket FLOORS. */
const entryKey = "delivery";
const publishEveryMs = 250;
/** Before there were floors, the router had a durable consumer of this name. */
const formerConsumer = "router";

const entriesOf = (connection: Connection): Bucket<Floors> => new Bucket(connection, buckets.floors, (json) => floorsEntry.parse(json));

/** For runners: undefined before delivery has published any. @throws Unavailable */
export const readFloors = (connection: Connection): Promise<Floors | undefined> => entriesOf(connection).get(entryKey);

/** The floors of the RUNS that there is, to begin with. A floor is never beyond the last commit: a server may have lost its newest ones. */
export async function loadFloors(connection: Connection): Promise<Floors> {
  const { created, state } = await connection.manager.streams.info(streams.runs);
  const stream = String(created);
  const stored = await readFloors(connection);
  const floors = stored?.stream === stream ? stored : { stream, routed: await formerFloor(connection), recorded: 0 };
  return { stream, routed: Math.min(floors.routed, state.last_seq), recorded: Math.min(floors.recorded, state.last_seq) };
}

async function formerFloor({ manager }: Connection): Promise<number> {
  try {
    return (await manager.consumers.info(streams.runs, formerConsumer)).ack_floor.stream_seq;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

const nothingProcessed: Floors = { stream: "", routed: 0, recorded: 0 };

/** Publishes floors within a quarter of a second after they have risen, so that a crash repeats little. */
export class FloorPublisher {
  readonly #entries: Bucket<Floors>;
  readonly #failed: (error: unknown) => void;
  readonly #connection: Connection;
  #loading: Promise<Floors> | undefined;
  #floors: Floors = nothingProcessed;
  #published: Floors = nothingProcessed;
  #publishing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param failed hears why floors could not be published; they are published again with the next rise */
  constructor(connection: Connection, failed: (error: unknown) => void) {
    this.#connection = connection;
    this.#entries = entriesOf(connection);
    this.#failed = failed;
  }

  /** Reads the floors to begin with, once. @throws when the server does not answer */
  load(): Promise<Floors> {
    this.#loading ??= loadFloors(this.#connection).then(
      (floors) => (this.#floors = this.#published = floors),
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }

  /** Both routed and recorded. */
  get processed(): number {
    return Math.min(this.#floors.routed, this.#floors.recorded);
  }

  raise(floors: Partial<Pick<Floors, "routed" | "recorded">>): void {
    const { routed = 0, recorded = 0 } = floors;
    const { stream, ...before } = this.#floors;
    this.#floors = { stream, routed: Math.max(before.routed, routed), recorded: Math.max(before.recorded, recorded) };
    this.#schedule();
  }

  /** Publishes the last rise. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#publishing;
    await this.#publish();
  }

  #schedule(): void {
    if (this.#isStopped || !this.#isBehind) return;
    this.#timer ??= setTimeout(() => {
      this.#publishing = this.#publish().then(() => {
        this.#timer = undefined;
        this.#schedule();
      });
    }, publishEveryMs);
  }

  get #isBehind(): boolean {
    return this.#floors.routed > this.#published.routed || this.#floors.recorded > this.#published.recorded;
  }

  /** Never rejects. */
  async #publish(): Promise<void> {
    const floors = this.#floors;
    if (!this.#isBehind) return;
    try {
      await this.#entries.put(entryKey, floors);
      this.#published = floors;
    } catch (error) {
      this.#failed(error);
    }
  }
}
