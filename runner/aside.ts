import { partitionOf } from "../domain/partition.ts";

/** A message that was taken up and not cleared. */
export interface Taken {
  /** Sequences of the numbers under which its invocations are answered. */
  readonly numbers: readonly number[];
  isDone: boolean;
  /** Taken up before the server was away: it may have forgotten that these were acked where they stood before. */
  isOld: boolean;
}

/** A runner that lost the partition may hold a message for as long as its longest run; one that has died does not. */
const longestMs = 360_000;

/**
 * What lies aside of one source. It is laid there in order, taken up in order, and cleared up to the last message before which all were
 * run. When all was taken up, what comes finds it before itself in the queue; when all was cleared, it is over.
 */
export class Aside {
  readonly source: string;
  readonly partition: number;
  owner: string | undefined;
  /** Messages in the stream, about. */
  count = 0;
  /** Invocations on their way there. */
  laying = 0;
  /** Sequence of the first message that this runner laid there; those before it another may have laid, and died before it said so. */
  firstLaid = Number.POSITIVE_INFINITY;
  lastLaid = 0;
  lastTaken = 0;
  /** There were no more when it was looked at. */
  isDrained = false;
  isTaking = false;
  isClearing = false;
  /** By sequence. */
  readonly taken = new Map<number, Taken>();

  #waitsFor: { readonly seq: number; readonly since: number } | undefined;

  constructor(source: string) {
    this.source = source;
    this.partition = partitionOf(source);
  }

  get isTakenUp(): boolean {
    return this.isDrained && this.laying === 0;
  }

  /** The server was away: what there is has to be seen once more, and may come from where it stood before as well, whoever laid it there. */
  beginAnew(): void {
    this.lastTaken = 0;
    this.lastLaid = 0;
    this.firstLaid = Number.POSITIVE_INFINITY;
    for (const taken of this.taken.values()) taken.isOld = true;
  }

  /** Whether this one was waited for so long that where it stood before nobody holds it any more: it would have come. */
  hasWaitedFor(seq: number, now: number): boolean {
    if (this.#waitsFor?.seq !== seq) this.#waitsFor = { seq, since: now };
    return now - this.#waitsFor.since > longestMs;
  }

  /** Sequence of the last message that is done as all before it are; undefined: there is none. */
  doneUpTo(): number | undefined {
    let firstOpen = Number.POSITIVE_INFINITY;
    for (const [seq, { isDone }] of this.taken) if (!isDone) firstOpen = Math.min(firstOpen, seq);
    const done = [...this.taken.keys()].filter((seq) => seq < firstOpen);
    return done.length === 0 ? undefined : Math.max(...done);
  }
}
