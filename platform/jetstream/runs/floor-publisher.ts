import type { Connection } from "../connection/connection.ts";
import { higherFloors, isSame, loadFloors, publishFloors, type FloorKind, type Floors } from "./floors.ts";

const publishEveryMs = 250;

/** Publishes the floors that this process knows within a quarter of a second after they have risen, so that a crash repeats little. */
export class FloorPublisher {
  readonly #connection: Connection;
  readonly #failed: (error: unknown) => void;
  readonly #sources = new Map<FloorKind, () => ReadonlyMap<number, number>>();
  #known: Floors | undefined;
  #published: Floors | undefined;
  #loading: Promise<Floors> | undefined;
  #publishing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  /** @param failed hears why floors could not be published; they are published again a moment later */
  constructor(connection: Connection, failed: (error: unknown) => void) {
    this.#connection = connection;
    this.#failed = failed;
  }

  /** Publishes what this returns, by partition, whenever it has risen. */
  follow(kind: FloorKind, floors: () => ReadonlyMap<number, number>): void {
    this.#sources.set(kind, floors);
    this.#timer ??= setInterval(() => void this.publish(), publishEveryMs); // Never rejects.
  }

  /** Reads what everybody has published; those who call at once share one answer. @throws when NATS does not answer */
  load(): Promise<Floors> {
    this.#loading ??= loadFloors(this.#connection)
      .then((floors) => {
        // Another RUNS counts from 1 again: floors of the one before say nothing of it.
        this.#known = this.#known?.stream === floors.stream ? higherFloors(floors, this.#known) : floors;
        return floors;
      })
      .finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  /** Resolves when all that has risen by now is published, or could not be. */
  publish(): Promise<void> {
    return (this.#publishing = this.#publishing.then(() => this.#publishRise()));
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.publish();
  }

  /** Never rejects. */
  async #publishRise(): Promise<void> {
    if (this.#known === undefined) return;
    const floors = this.#risen(this.#known);
    if (this.#published !== undefined && isSame(this.#published, floors)) return;
    try {
      await publishFloors(this.#connection, floors);
      this.#published = this.#known = floors;
    } catch (error) {
      this.#failed(error);
    }
  }

  #risen(known: Floors): Floors {
    const risen = (kind: FloorKind): readonly number[] => {
      const floors = this.#sources.get(kind)?.();
      return known[kind].map((floor, partition) => Math.max(floor, floors?.get(partition) ?? 0));
    };
    return { stream: known.stream, routed: risen("routed"), recorded: risen("recorded"), ordered: risen("ordered") };
  }
}
