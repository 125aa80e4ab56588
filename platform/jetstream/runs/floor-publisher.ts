import type { Connection } from "../connection/connection.ts";
import { higherFloors, isSame, loadFloors, publishFloors, type FloorKind, type Floors } from "./floors.ts";

const publishEveryMs = 250;

/** Publishes the floors of this process within 250 ms after they rise, so that a crash repeats little. */
export class FloorPublisher {
  readonly #connection: Connection;
  readonly #failed: (error: unknown) => void;
  readonly #sources = new Map<FloorKind, () => ReadonlyMap<number, number>>();
  #known: Floors | undefined;
  #published: Floors | undefined;
  #loading: Promise<Floors> | undefined;
  #publishing: Promise<boolean> = Promise.resolve(true);
  #timer: NodeJS.Timeout | undefined;

  /** @param failed called when floors could not be published; publishing is tried again after 250 ms */
  constructor(connection: Connection, failed: (error: unknown) => void) {
    this.#connection = connection;
    this.#failed = failed;
  }

  /** Publishes the floors that `floors` returns, by partition, whenever they have risen. */
  follow(kind: FloorKind, floors: () => ReadonlyMap<number, number>): void {
    this.#sources.set(kind, floors);
    this.#timer ??= setInterval(() => void this.publish(), publishEveryMs); // Never rejects.
  }

  /** Reads the floors that all replicas have published. Concurrent callers share one read. @throws when NATS does not answer */
  load(): Promise<Floors> {
    this.#loading ??= loadFloors(this.#connection)
      .then((floors) => {
        // Floors of an earlier RUNS do not apply: its sequences were other commits.
        this.#known = this.#known?.stream === floors.stream ? higherFloors(floors, this.#known) : floors;
        return floors;
      })
      .finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  /** Publishes the floors that have risen by now. False: publishing has failed. Never rejects. */
  publish(): Promise<boolean> {
    return (this.#publishing = this.#publishing.then(() => this.#publishRise()));
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.publish();
  }

  async #publishRise(): Promise<boolean> {
    if (this.#known === undefined) return true;
    const floors = this.#risen(this.#known);
    if (this.#published !== undefined && isSame(this.#published, floors)) return true;
    try {
      await publishFloors(this.#connection, floors);
      this.#published = this.#known = floors;
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  #risen(known: Floors): Floors {
    const risen = (kind: FloorKind): readonly number[] => {
      const floors = this.#sources.get(kind)?.();
      return known[kind].map((floor, partition) => Math.max(floor, floors?.get(partition) ?? 0));
    };
    return { stream: known.stream, routed: risen("routed"), recorded: risen("recorded") };
  }
}
