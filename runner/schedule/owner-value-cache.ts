import type { Clock } from "../../domain/clock.ts";

export interface OwnerValuesOptions<Value> {
  /** Undefined when the owner has no value of its own. @throws Unavailable */
  readonly read: (owner: string) => Promise<Value | undefined>;
  /** Reports each owner whose value changed, from now on; undefined: some may have changed, it is not known which. */
  readonly follow: (changed: (owner: string | undefined) => void) => Promise<{ stop(): Promise<void> }>;
  /** Of owners without a value, and of those whose value cannot be read yet. */
  readonly usual: Value;
  readonly clock: Clock;
  /** Called after each read, also when it failed. */
  readonly onRead?: (owner: string, value: Value) => void;
}

interface Known<Value> {
  readonly value: Value;
  readonly readAtMs: number;
}

/** Entries end by themselves, and no change is reported then. */
const maxAgeMs = 10 * 60_000;
/** The owners that are remembered; the one that was read first is forgotten first. */
const maxOwners = 10_000;

/** Values by owner, such as quotas, of the owners whose work comes here: read with the owner's first work, and again on each change. */
export class OwnerValues<Value> {
  readonly #options: OwnerValuesOptions<Value>;
  readonly #known = new Map<string, Known<Value>>();
  readonly #reading = new Map<string, Promise<void>>();
  #following: { stop(): Promise<void> } | undefined;

  constructor(options: OwnerValuesOptions<Value>) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#following = await this.#options.follow((owner) => {
      const affected = owner === undefined ? [...this.#known.keys()] : [owner].filter((each) => this.#known.has(each));
      for (const each of affected) void this.reload(each); // Never rejects.
    });
  }

  async stop(): Promise<void> {
    await this.#following?.stop();
  }

  /** The last known value; one that is not known or old is read in the background. */
  get(owner: string): Value {
    const known = this.#known.get(owner);
    const isOld = known === undefined || this.#options.clock.now() - known.readAtMs > maxAgeMs;
    if (isOld && !this.#reading.has(owner)) void this.reload(owner); // Never rejects.
    return known?.value ?? this.#options.usual;
  }

  isKnown(owner: string): boolean {
    return this.#known.has(owner);
  }

  /** Reads of one owner follow each other, so that the last one begins after the change that it was called for. Never rejects. */
  reload(owner: string): Promise<void> {
    const reading = (this.#reading.get(owner) ?? Promise.resolve()).then(() => this.#read(owner));
    this.#reading.set(owner, reading);
    return reading.finally(() => {
      if (this.#reading.get(owner) === reading) this.#reading.delete(owner);
    });
  }

  async #read(owner: string): Promise<void> {
    const { read, usual, clock, onRead } = this.#options;
    const known = this.#known.get(owner);
    // What cannot be read stays as it is, and is read again when it is used in the next second but one.
    const failed = { value: known?.value ?? usual, readAtMs: clock.now() - maxAgeMs + 1_000 };
    const next = await read(owner).then(
      (value) => ({ value: value ?? usual, readAtMs: clock.now() }),
      () => failed,
    );
    this.#known.delete(owner);
    this.#known.set(owner, next);
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxOwners && oldest !== undefined) this.#known.delete(oldest);
    onRead?.(owner, next.value);
  }
}
