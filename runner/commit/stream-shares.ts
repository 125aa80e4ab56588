import { ownerShareBytes, type StreamUsage } from "../../domain/limits/stream-share.ts";
import type { Room, OwnerUsages } from "./ports.ts";

/** Until then, what this runner lets an owner store is added to what NATS has counted. */
const maxAgeMs = 1_000;
/** Counting takes at most this share of the time, however many commits are refused. */
const maxReadShare = 1 / 20;
/** How long STATE may need to copy a commit: until then, a count does not contain it. */
const copyMs = 200;
const maxOwners = 1_000;

interface Known {
  readonly readAt: number;
  readonly readMs: number;
  readonly usage: StreamUsage | undefined;
  /** Undefined: NATS did not count, because the stream has room for every owner. */
  readonly bytes: number | undefined;
}

/** Bytes that an owner may store, and that the last count may not contain. */
interface Reserved {
  readonly bytes: number;
  /** When the commit was stored; undefined: not yet. */
  storedAt: number | undefined;
}

/** A sentence for an owner who has no room. All are bytes. */
export type Refusal = (held: number, more: number, share: number) => string;

export const noRoomForState: Refusal = (held, more, share) =>
  `the owner's sources and unfinished workflow runs hold ${held} bytes of state, and with ${more} more they exceed the owner's share, which is ${share} bytes now: cancel suspended runs, delete workflows or sources, or store and export less`;

/**
 * Decides whether what an owner has stored in a stream may grow: the last commits in STATE, which stay for as long as their sources and
 * suspended runs live, or the files of runs. Each owner has a share (`domain/limits/stream-share.ts`). NATS counts, for all runners. It is
 * asked at most once a second for an owner who has room, and again before a refusal. While it cannot be asked, nothing is refused.
 */
export class StreamShares {
  readonly #usages: OwnerUsages;
  readonly #refusal: Refusal;
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();
  readonly #reading = new Map<string, Promise<Known>>();
  readonly #reserved = new Map<string, { readonly all: Reserved[]; bytes: number }>();

  /** @param now monotonic time, ms */
  constructor(usages: OwnerUsages, refusal: Refusal, now: () => number) {
    this.#usages = usages;
    this.#refusal = refusal;
    this.#now = now;
  }

  async reserve(owner: string, bytes: number): Promise<Room> {
    const known = this.#known.get(owner);
    if (known !== undefined && this.#now() - known.readAt < maxAgeMs && this.#hasRoom(owner, known, bytes))
      return this.#admit(owner, bytes);
    const isTooEarly = known !== undefined && this.#now() - known.readAt < known.readMs / maxReadShare;
    const read = isTooEarly ? known : await this.#read(owner, bytes);
    if (this.#hasRoom(owner, read, bytes)) return this.#admit(owner, bytes);
    return { refusal: this.#reasonAgainst(this.#with(owner, read), bytes) };
  }

  #admit(owner: string, bytes: number): Room {
    const reserved: Reserved = { bytes, storedAt: undefined };
    const ofOwner = this.#reserved.get(owner) ?? { all: [], bytes: 0 };
    ofOwner.all.push(reserved);
    ofOwner.bytes += bytes;
    this.#reserved.set(owner, ofOwner);
    return { release: () => void (reserved.storedAt = this.#now()) };
  }

  #hasRoom(owner: string, known: Known, more: number): boolean {
    const { usage, bytes } = this.#with(owner, known);
    if (usage === undefined) return true;
    const share = ownerShareBytes({ ...usage, bytes: usage.bytes + more });
    return share === Number.POSITIVE_INFINITY || (bytes !== undefined && bytes + more <= share);
  }

  /** What NATS has counted, and what it may not have seen. */
  #with(owner: string, { usage, bytes }: Known): Pick<Known, "usage" | "bytes"> {
    const unseen = this.#reserved.get(owner)?.bytes ?? 0;
    return {
      usage: usage === undefined ? undefined : { ...usage, bytes: usage.bytes + unseen },
      bytes: bytes === undefined ? undefined : bytes + unseen,
    };
  }

  #read(owner: string, more: number): Promise<Known> {
    const reading = this.#reading.get(owner) ?? this.#readNow(owner, more).finally(() => this.#reading.delete(owner));
    this.#reading.set(owner, reading);
    return reading;
  }

  async #readNow(owner: string, more: number): Promise<Known> {
    const startedAt = this.#now();
    const unseen = this.#reserved.get(owner)?.bytes ?? 0;
    const { usage, bytes } = await this.#usages.usage(owner, unseen + more).catch(() => ({ usage: undefined, bytes: undefined }));
    const known = { readAt: this.#now(), readMs: this.#now() - startedAt, usage, bytes };
    this.#keep(owner, known, startedAt - copyMs);
    return known;
  }

  #keep(owner: string, known: Known, countedAt: number): void {
    const isTooMany = this.#known.size >= maxOwners;
    if (isTooMany) this.#known.clear();
    this.#known.set(owner, known);
    for (const each of isTooMany ? [...this.#reserved.keys()] : [owner]) this.#forgetCounted(each, countedAt);
  }

  #forgetCounted(owner: string, countedAt: number): void {
    const unseen = this.#reserved.get(owner)?.all.filter(({ storedAt }) => storedAt === undefined || storedAt > countedAt) ?? [];
    if (unseen.length === 0) this.#reserved.delete(owner);
    else this.#reserved.set(owner, { all: unseen, bytes: unseen.reduce((sum, { bytes }) => sum + bytes, 0) });
  }

  #reasonAgainst({ usage, bytes = 0 }: Pick<Known, "usage" | "bytes">, more: number): string {
    const share = usage === undefined ? 0 : Math.floor(ownerShareBytes({ ...usage, bytes: usage.bytes + more }));
    return this.#refusal(bytes, more, share);
  }
}
