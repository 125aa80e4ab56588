import { z } from "zod";
import type { BacklogReport } from "../../../domain/limits/admission.ts";
import type { Joined } from "../../../domain/invocation/partition-share.ts";
import { buckets, replicaKey, runnerKey } from "../../../domain/subjects.ts";
import { Bucket } from "../buckets/bucket.ts";
import { followChanges } from "../buckets/bucket-changes.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";

/** How long a member that fell silent still counts as alive. */
const heartbeatTtlSeconds = 3;
const heartbeatEveryMs = 1_000;
/** Heartbeats and the server's own clean-up may be this late. */
const graceMs = 500;
const sweepEveryMs = 250;
/** Changes that come together, as after a restart of the server, are reported as one. */
const settleMs = 100;

/** Processes that share work, each with an entry of its own, which ends by itself. */
export interface Group {
  readonly bucket: typeof buckets.runners | typeof buckets.replicas;
  readonly keyOf: (member: string) => string;
}

/** The runners of a pool. */
export const runnersOf = (pool: string): Group => ({ bucket: buckets.runners, keyOf: (runner) => runnerKey(pool, runner) });
export const deliveryReplicas: Group = { bucket: buckets.replicas, keyOf: (replica) => replicaKey("delivery", replica) };

export interface Heartbeat {
  /** Of its memory limit, what the runner uses with all its processes, 0 to 1; absent: it has no limit. */
  readonly memoryShare?: number;
  /** Absent in the heartbeats of tests. */
  readonly backlog?: BacklogReport;
  /** Partitions that the member reads, or still works on. */
  readonly holds?: readonly number[];
  /** The member stops: others divide its partitions, and open each when it does not hold it any more. */
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
export const liveRunners = (connection: Connection): Bucket<Heartbeat> => heartbeatsIn(connection, buckets.runners);

/** Ids of the live replicas of the delivery role. @throws Unavailable */
export const liveReplicas = (connection: Connection): Promise<readonly string[]> =>
  heartbeatsIn(connection, deliveryReplicas.bucket).keys(deliveryReplicas.keyOf("*"));

const heartbeatsIn = (connection: Connection, bucket: Group["bucket"]): Bucket<Heartbeat> => new Bucket(connection, bucket, parseHeartbeat);

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
  /** False: others may take this member for dead, since its last heartbeat that was stored is too old. */
  isCurrent(): boolean;
}

export interface Announcement {
  readonly report?: () => Promise<Heartbeat>;
  /** Before the first heartbeat after others may have taken this member for dead. */
  readonly onLapse?: () => void;
}

/** Says that a member of a group lives, until it leaves. @throws Unavailable when it cannot say so the first time */
export async function announce(
  connection: Connection,
  group: Group,
  member: string,
  { report = () => Promise.resolve({}), onLapse }: Announcement = {},
): Promise<Announced> {
  const bucket = heartbeatsIn(connection, group.bucket);
  /** When the last heartbeat that was stored was sent: its entry lives longer than the heartbeat's TTL from then on. */
  let sentAt = Number.POSITIVE_INFINITY;
  let hasLapsed = false;
  const isCurrent = (): boolean => performance.now() - sentAt < heartbeatTtlSeconds * 1_000;
  const beat = async (): Promise<void> => {
    if (!isCurrent() && !hasLapsed) {
      hasLapsed = true;
      onLapse?.();
    }
    const now = performance.now();
    const reported = await report();
    const headers = reported.isRetiring === true ? { [retiringHeader]: "1" } : {};
    await bucket.put(group.keyOf(member), reported, { ttlSeconds: heartbeatTtlSeconds, headers });
    sentAt = now;
    hasLapsed = false;
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
    isCurrent,
    leave: async () => {
      hasLeft = true;
      clearInterval(timer);
      clearTimeout(soon);
      await beating;
      if (connection.status() === "connected") await bucket.delete(group.keyOf(member)).catch(() => undefined); // Its time will be up by itself.
    },
  };
}

/** Calls back with the sorted ids of all live members of a group now and on each change. */
export async function watchMembers(
  connection: Connection,
  group: Group,
  onMembers: (members: readonly string[]) => void,
): Promise<Stoppable> {
  const members = new Members(connection, group, onMembers);
  await members.start();
  return members;
}

/** Who is heard is alive; who is silent for longer than an entry lasts is not. A list of the entries is read at the start and after each break. */
class Members implements Stoppable {
  readonly #connection: Connection;
  readonly #group: Group;
  readonly #onMembers: (members: readonly string[]) => void;
  readonly #heardAt = new Map<string, number>();
  #told: string | undefined;
  #following: Stoppable | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(connection: Connection, group: Group, onMembers: (members: readonly string[]) => void) {
    this.#connection = connection;
    this.#group = group;
    this.#onMembers = onMembers;
  }

  async start(): Promise<void> {
    this.#following = await followChanges(this.#connection, this.#group.bucket, this.#group.keyOf("*"), (key, wasDeleted, headers) => {
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
    const member = memberOf(key);
    if (isGone) this.#heardAt.delete(member);
    else this.#heardAt.set(member, performance.now());
  }

  async #list(): Promise<void> {
    const entries = await heartbeatsIn(this.#connection, this.#group.bucket).readAll(this.#group.keyOf("*"));
    for (const [key, { isRetiring }] of entries) if (isRetiring !== true && !this.#heardAt.has(memberOf(key))) this.#hear(key, false);
  }

  /** The silence while the server was away says nothing of the others. */
  async #listAgain(): Promise<void> {
    for (const member of this.#heardAt.keys()) this.#heardAt.set(member, performance.now());
    await this.#list().catch(() => undefined); // Who lives is heard within a second anyway.
    this.#schedule();
  }

  #sweep(): void {
    if (this.#connection.status() !== "connected") return;
    const silentSince = performance.now() - heartbeatTtlSeconds * 1_000 - graceMs;
    for (const [member, heardAt] of this.#heardAt) {
      if (heardAt > silentSince) continue;
      this.#heardAt.delete(member);
      this.#schedule();
    }
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.#tell(), settleMs);
  }

  #tell(): void {
    this.#timer = undefined;
    const members = [...this.#heardAt.keys()].sort();
    const text = members.join(" ");
    if (this.#stopped || text === this.#told) return;
    this.#told = text;
    this.#onMembers(members);
  }
}

const memberOf = (key: string): string => key.slice(key.indexOf(".") + 1);

/** Partitions that other live members of the group hold. @throws Unavailable */
export async function heldByOthers(connection: Connection, group: Group, member: string): Promise<ReadonlySet<number>> {
  const entries = await heartbeatsIn(connection, group.bucket).readAll(group.keyOf("*"));
  return new Set([...entries].flatMap(([key, { holds = [] }]) => (memberOf(key) === member ? [] : holds)));
}

export interface JoinOptions extends Announcement {
  readonly onMembers: (members: readonly string[]) => void;
  readonly report: () => Promise<Heartbeat>;
}

/** Announces a member and follows the others, until it leaves. @throws Unavailable */
export async function joinGroup(
  connection: Connection,
  group: Group,
  member: string,
  { onMembers, report, ...options }: JoinOptions,
): Promise<Joined & Pick<Announced, "isCurrent">> {
  let isRetiring = false;
  const reportAll = async (): Promise<Heartbeat> => ({ ...(await report()), ...(isRetiring ? { isRetiring } : {}) });
  const { leave, beat, beatSoon, isCurrent } = await announce(connection, group, member, { ...options, report: reportAll });
  const members = await watchMembers(connection, group, onMembers);
  return {
    isCurrent,
    reportSoon: beatSoon,
    report: beat,
    retire: async () => {
      isRetiring = true;
      if (connection.status() === "connected") await beat().catch(() => undefined); // The next heartbeat says so.
    },
    leave: async () => {
      await members.stop();
      await leave();
    },
  };
}
