import { z } from "zod";
import type { BacklogReport } from "../../../domain/limits/admission.ts";
import type { Joined } from "../../../domain/invocation/partition-share.ts";
import { buckets, replicaKey, runnerKey } from "../../../domain/subjects.ts";
import { Bucket } from "../buckets/bucket.ts";
import { followChanges } from "../buckets/bucket-changes.ts";
import type { Connection } from "../connection/connection.ts";
import type { Stoppable } from "../connection/link.ts";

/** A member without a heartbeat for this time counts as dead. */
const heartbeatTtlSeconds = 3;
const heartbeatEveryMs = 1_000;
/** Heartbeats, and the expiry of entries in NATS, may be this late. */
const graceMs = 500;
const sweepEveryMs = 250;
/** Changes within this time, as after a restart of NATS, are reported as one. */
const settleMs = 100;

/** Processes that share work. Each has an entry in the bucket, which expires without heartbeats. */
export interface Group {
  readonly bucket: typeof buckets.runners | typeof buckets.replicas;
  readonly keyOf: (member: string) => string;
}

/** The runners of a pool. */
export const runnersOf = (pool: string): Group => ({ bucket: buckets.runners, keyOf: (runner) => runnerKey(pool, runner) });
export const deliveryReplicas: Group = { bucket: buckets.replicas, keyOf: (replica) => replicaKey("delivery", replica) };

export interface Heartbeat {
  /** Share of its memory limit that the runner uses with its child processes, 0 to 1. Absent: it has no limit. */
  readonly memoryShare?: number;
  /** Share of its CPUs that the runner uses with its child processes, 0 to 1. Absent: unknown. */
  readonly cpuShare?: number;
  /** Absent in the heartbeats of tests. */
  readonly backlog?: BacklogReport;
  /** Partitions that the member reads, or whose messages it has not finished. */
  readonly holds?: readonly number[];
  /** The member stops: the others divide its partitions among themselves, and open each once it is released. */
  readonly isRetiring?: boolean;
}

/** Our members report no longer lists. */
const maxListed = 4_096;
const ids = z.array(z.string()).max(maxListed);
const partitions = z.array(z.int()).max(maxListed);
const backlogReport = z.object({ partitions, sources: ids, owners: ids });
const share = z
  .number()
  .transform((value) => Math.min(1, Math.max(0, value)))
  .optional()
  .catch(undefined);
const heartbeat = z.object({
  memoryShare: share,
  cpuShare: share,
  backlog: backlogReport.optional().catch(undefined),
  holds: partitions.optional().catch(undefined),
  isRetiring: z.boolean().optional().catch(undefined),
});
/** A header of heartbeats: members receive changes without their values. */
const retiringHeader = "Headwater-Retiring";

/** Heartbeats of live runners of all pools, by `<pool>.<runner>`. */
export const liveRunners = (connection: Connection): Bucket<Heartbeat> => heartbeatsIn(connection, buckets.runners);

/** Heartbeats of live replicas of the delivery role, by `delivery.<replica>`. */
export const liveDeliveries = (connection: Connection): Bucket<Heartbeat> => heartbeatsIn(connection, deliveryReplicas.bucket);

/** Ids of the live replicas of the delivery role. @throws Unavailable */
export const liveReplicas = (connection: Connection): Promise<readonly string[]> =>
  liveDeliveries(connection).keys(deliveryReplicas.keyOf("*"));

const heartbeatsIn = (connection: Connection, bucket: Group["bucket"]): Bucket<Heartbeat> => new Bucket(connection, bucket, parseHeartbeat);

/** Runners run user code, so their reports are bounded. */
function parseHeartbeat(json: unknown): Heartbeat {
  const { memoryShare, cpuShare, backlog, holds, isRetiring } = heartbeat.catch({}).parse(json);
  return {
    ...(holds === undefined ? {} : { holds }),
    ...(isRetiring === undefined ? {} : { isRetiring }),
    ...(memoryShare === undefined ? {} : { memoryShare }),
    ...(cpuShare === undefined ? {} : { cpuShare }),
    ...(backlog === undefined ? {} : { backlog }),
  };
}

export interface Announced {
  leave(): Promise<void>;
  /** Sends a heartbeat within 100 ms, because the report has changed. */
  beatSoon(): void;
  /** Sends a heartbeat now. @throws Unavailable */
  beat(): Promise<void>;
  /** False if the other members may consider this one dead, because its last stored heartbeat is too old. */
  isCurrent(): boolean;
}

export interface Announcement {
  readonly report?: () => Promise<Heartbeat>;
  /** Called before the first heartbeat after the other members may have considered this one dead. */
  readonly onLapse?: () => void;
}

/** Sends heartbeats of a member until it leaves. @throws Unavailable when the first heartbeat cannot be sent */
export async function announce(
  connection: Connection,
  group: Group,
  member: string,
  { report = () => Promise.resolve({}), onLapse }: Announcement = {},
): Promise<Announced> {
  const bucket = heartbeatsIn(connection, group.bucket);
  /** When the last stored heartbeat was sent: its entry expires no earlier than its TTL after this time. */
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
    // While NATS is unavailable one heartbeat waits; more would carry no news.
    beating ??= beat()
      .catch(() => undefined)
      .finally(() => (beating = undefined));
  };
  const beatSoon = (): void => {
    if (hasLeft) return;
    soon ??= setTimeout(() => {
      soon = undefined;
      if (beating === undefined) beatNow();
      else void beating.then(beatSoon); // Its report may be older than the change.
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
      if (connection.status() === "connected") await bucket.delete(group.keyOf(member)).catch(() => undefined); // The entry expires.
    },
  };
}

/** Reports the sorted ids of all live members of a group, now and on each change. */
export async function watchMembers(
  connection: Connection,
  group: Group,
  onMembers: (members: readonly string[]) => void,
): Promise<Stoppable> {
  const members = new Members(connection, group, onMembers);
  await members.start();
  return members;
}

/**
 * The live members of a group: those with a heartbeat within the TTL of an entry. Heartbeats are followed; entries are listed at the start
 * and after each reconnect.
 */
class Members implements Stoppable {
  readonly #connection: Connection;
  readonly #group: Group;
  readonly #onMembers: (members: readonly string[]) => void;
  readonly #lastHeartbeatAt = new Map<string, number>();
  #reported: string | undefined;
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
      if (key === undefined) return void this.#relist(); // Never rejects.
      this.#update(key, wasDeleted || headers?.has(retiringHeader) === true);
      this.#schedule();
    });
    await this.#list();
    this.#sweeper = setInterval(() => this.#sweep(), sweepEveryMs);
    this.#report();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#sweeper);
    clearTimeout(this.#timer);
    await this.#following?.stop();
  }

  #update(key: string, isGone: boolean): void {
    const member = memberOf(key);
    if (isGone) this.#lastHeartbeatAt.delete(member);
    else this.#lastHeartbeatAt.set(member, performance.now());
  }

  async #list(): Promise<void> {
    const entries = await heartbeatsIn(this.#connection, this.#group.bucket).readAll(this.#group.keyOf("*"));
    for (const [key, { isRetiring }] of entries)
      if (isRetiring !== true && !this.#lastHeartbeatAt.has(memberOf(key))) this.#update(key, false);
  }

  /** Missing heartbeats while NATS was unavailable do not mean that a member is dead. */
  async #relist(): Promise<void> {
    for (const member of this.#lastHeartbeatAt.keys()) this.#lastHeartbeatAt.set(member, performance.now());
    await this.#list().catch(() => undefined); // Live members send a heartbeat within a second.
    this.#schedule();
  }

  #sweep(): void {
    if (this.#connection.status() !== "connected") return;
    const silentSince = performance.now() - heartbeatTtlSeconds * 1_000 - graceMs;
    for (const [member, lastAt] of this.#lastHeartbeatAt) {
      if (lastAt > silentSince) continue;
      this.#lastHeartbeatAt.delete(member);
      this.#schedule();
    }
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.#report(), settleMs);
  }

  #report(): void {
    this.#timer = undefined;
    const members = [...this.#lastHeartbeatAt.keys()].sort();
    const text = members.join(" ");
    if (this.#stopped || text === this.#reported) return;
    this.#reported = text;
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
      if (connection.status() === "connected") await beat().catch(() => undefined); // The next heartbeat reports it.
    },
    leave: async () => {
      await members.stop();
      await leave();
    },
  };
}
