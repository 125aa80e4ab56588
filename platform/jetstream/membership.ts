import { z } from "zod";
import type { BacklogReport } from "../../domain/admission.ts";
import { buckets, runnerKey } from "../../domain/subjects.ts";
import { Bucket } from "./bucket.ts";
import { followChanges } from "./changes.ts";
import type { Connection } from "./connection.ts";
import type { Reading } from "./consumer.ts";

/** How long a runner that fell silent still counts as alive. */
const heartbeatTtlSeconds = 3;
const heartbeatEveryMs = 1_000;
/** Heartbeats and the server's own clean-up may be this late. */
const graceMs = 500;
const sweepEveryMs = 250;
/** Changes that come together, as after a restart of the server, are reported as one. */
const settleMs = 100;

export interface Heartbeat {
  /** Of its memory limit, what the runner uses with all its processes, 0 to 1; absent: it has no limit. */
  readonly memoryShare?: number;
  /** Absent in the heartbeats of tests. */
  readonly backlog?: BacklogReport;
  /** Partitions that the runner reads, or still runs something of. */
  readonly holds?: readonly number[];
  /** The runner stops: others divide its partitions, and open each when it does not hold it any more. */
  readonly isRetiring?: boolean;
}

/** Longer lists are none of ours. */
const maxListed = 4_096;
const ids = z.array(z.string()).max(maxListed);
const partitions = z.array(z.int()).max(maxListed);
const backlogReport = z.object({ partitions, sources: ids, owners: ids });
const heartbeat = z.object({
  memoryShare: z.number().optional().catch(undefined),
  backlog: backlogReport.optional().catch(undefined),
  holds: partitions.optional().catch(undefined),
  isRetiring: z.boolean().optional().catch(undefined),
});
/** In the headers of a heartbeat, since members are notified of changes without their values. */
const retiringHeader = "Headwater-Retiring";

/** Heartbeats of all pools, by `<pool>.<runner>`; entries end by themselves. */
export const liveRunners = (connection: Connection): Bucket<Heartbeat> => new Bucket(connection, buckets.runners, parseHeartbeat);

/** A runner holds user code: what it reports is believed within bounds. */
function parseHeartbeat(json: unknown): Heartbeat {
  const { memoryShare, backlog, holds, isRetiring } = heartbeat.catch({}).parse(json);
  return {
    ...(holds === undefined ? {} : { holds }),
    ...(isRetiring === undefined ? {} : { isRetiring }),
    ...(memoryShare === undefined ? {} : { memoryShare: Math.min(1, Math.max(0, memoryShare)) }),
    ...(backlog === undefined ? {} : { backlog }),
  };
}

export interface Announced {
  leave(): Promise<void>;
  /** What the heartbeats say has changed: sends one within 100 ms. */
  beatSoon(): void;
  /** Sends one now. @throws Unavailable */
  beat(): Promise<void>;
}

/** Says that a runner of a pool lives, until it leaves. @throws Unavailable when it cannot say so the first time */
export async function announce(
  connection: Connection,
  pool: string,
  runner: string,
  tell: () => Promise<Heartbeat> = () => Promise.resolve({}),
): Promise<Announced> {
  const bucket = liveRunners(connection);
  const beat = async (): Promise<void> => {
    const told = await tell();
    const headers = told.isRetiring === true ? { [retiringHeader]: "1" } : {};
    await bucket.put(runnerKey(pool, runner), told, { ttlSeconds: heartbeatTtlSeconds, headers });
  };
  await beat();
  let beating: Promise<void> | undefined;
  let soon: NodeJS.Timeout | undefined;
  let hasLeft = false;
  const beatNow = (): void => {
    // While the server is away one heartbeat waits, and is the first thing to arrive; more would say nothing new.
    beating ??= beat()
      .catch(() => undefined)
      .finally(() => (beating = undefined));
  };
  const beatSoon = (): void => {
    if (hasLeft) return;
    soon ??= setTimeout(() => {
      soon = undefined;
      if (beating === undefined) beatNow();
      else void beating.then(beatSoon); // What it says may be older than the change.
    }, settleMs);
  };
  const timer = setInterval(beatNow, heartbeatEveryMs);
  return {
    beat,
    beatSoon,
    leave: async () => {
      hasLeft = true;
      clearInterval(timer);
      clearTimeout(soon);
      await beating;
      if (connection.status() === "connected") await bucket.delete(runnerKey(pool, runner)).catch(() => undefined); // Its time will be up by itself.
    },
  };
}

/** Tells the sorted ids of all live runners of a pool now and on each change. */
export async function watchMembers(
  connection: Connection,
  pool: string,
  onMembers: (runners: readonly string[]) => void,
): Promise<Reading> {
  const members = new Members(connection, pool, onMembers);
  await members.start();
  return members;
}

/** Who is heard is alive; who is silent for longer than an entry lasts is not. A list of the entries is read at the start and after each break. */
class Members implements Reading {
  readonly #connection: Connection;
  readonly #pool: string;
  readonly #onMembers: (runners: readonly string[]) => void;
  readonly #heardAt = new Map<string, number>();
  #told: string | undefined;
  #following: Reading | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(connection: Connection, pool: string, onMembers: (runners: readonly string[]) => void) {
    this.#connection = connection;
    this.#pool = pool;
    this.#onMembers = onMembers;
  }

  async start(): Promise<void> {
    this.#following = await followChanges(this.#connection, buckets.runners, runnerKey(this.#pool, "*"), (key, wasDeleted, headers) => {
      if (key === undefined) return void this.#listAgain(); // Never rejects.
      this.#hear(key, wasDeleted || headers?.has(retiringHeader) === true);
      this.#schedule();
    });
    await this.#list();
    this.#sweeper = setInterval(() => this.#sweep(), sweepEveryMs);
    this.#tell();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#sweeper);
    clearTimeout(this.#timer);
    await this.#following?.stop();
  }

  #hear(key: string, isGone: boolean): void {
    const runner = runnerOf(key);
    if (isGone) this.#heardAt.delete(runner);
    else this.#heardAt.set(runner, performance.now());
  }

  async #list(): Promise<void> {
    const entries = await liveRunners(this.#connection).readAll(runnerKey(this.#pool, "*"));
    for (const [key, { isRetiring }] of entries) if (isRetiring !== true && !this.#heardAt.has(runnerOf(key))) this.#hear(key, false);
  }

  /** The silence while the server was away says nothing of the others. */
  async #listAgain(): Promise<void> {
    for (const runner of this.#heardAt.keys()) this.#heardAt.set(runner, performance.now());
    await this.#list().catch(() => undefined); // Who lives is heard within a second anyway.
    this.#schedule();
  }

  #sweep(): void {
    if (this.#connection.status() !== "connected") return;
    const silentSince = performance.now() - heartbeatTtlSeconds * 1_000 - graceMs;
    for (const [runner, heardAt] of this.#heardAt) {
      if (heardAt > silentSince) continue;
      this.#heardAt.delete(runner);
      this.#schedule();
    }
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.#tell(), settleMs);
  }

  #tell(): void {
    this.#timer = undefined;
    const runners = [...this.#heardAt.keys()].sort();
    const text = runners.join(" ");
    if (this.#stopped || text === this.#told) return;
    this.#told = text;
    this.#onMembers(runners);
  }
}

const runnerOf = (key: string): string => key.slice(key.indexOf(".") + 1);

/** Partitions that other live runners of the pool hold. @throws Unavailable */
export async function heldByOthers(connection: Connection, pool: string, runner: string): Promise<ReadonlySet<number>> {
  const entries = await liveRunners(connection).readAll(runnerKey(pool, "*"));
  return new Set([...entries].flatMap(([key, { holds = [] }]) => (runnerOf(key) === runner ? [] : holds)));
}
