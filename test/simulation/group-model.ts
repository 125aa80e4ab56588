import type { Joined } from "../../domain/invocation/partition-share.ts";
import { Feed } from "./feed.ts";
import type { SimulatedProcess } from "./process.ts";
import type { VirtualTime } from "./virtual-time.ts";

interface Entry {
  readonly holds: readonly number[];
  readonly isRetiring: boolean;
  readonly storedAt: number;
}

interface Follower {
  readonly feed: Feed<readonly string[]>;
  reported: string;
}

const heartbeatTtlMs = 3_000;
const heartbeatEveryMs = 1_000;
const settleMs = 100;

/** The heartbeats of processes that share work: an entry without a heartbeat for three seconds expires. */
export class GroupModel {
  readonly #time: VirtualTime;
  readonly #entries = new Map<string, Entry>();
  readonly #followers = new Set<Follower>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  put(member: string, entry: Omit<Entry, "storedAt">): void {
    this.#entries.set(member, { ...entry, storedAt: this.#time.now });
    this.#time.after(heartbeatTtlMs + 1, () => this.#report());
    this.#report();
  }

  delete(member: string): void {
    this.#entries.delete(member);
    this.#report();
  }

  heldByOthers(member: string): ReadonlySet<number> {
    return new Set(this.#live().flatMap(([other, { holds }]) => (other === member ? [] : holds)));
  }

  follow(feed: Feed<readonly string[]>): void {
    this.#followers.add({ feed, reported: "" });
    this.#report();
  }

  #live(): readonly (readonly [string, Entry])[] {
    return [...this.#entries].filter(([, { storedAt }]) => this.#time.now - storedAt < heartbeatTtlMs);
  }

  #report(): void {
    const members = this.#live()
      .filter(([, { isRetiring }]) => !isRetiring)
      .map(([member]) => member)
      .toSorted();
    for (const follower of this.#followers) {
      if (!follower.feed.isOpen) this.#followers.delete(follower);
      if (follower.reported === members.join(" ")) continue;
      follower.reported = members.join(" ");
      follower.feed.push(members);
    }
  }
}

interface GroupMember {
  readonly onMembers: (members: readonly string[]) => void;
  readonly report: () => { readonly holds: readonly number[]; readonly isRetiring?: boolean };
  /** Called before the first heartbeat after the other members may have taken this one for dead. */
  readonly onLapse?: () => void;
}

/** Announces a member and follows the others, by the rules of `platform/jetstream/members/group.ts`. */
export async function joinGroup(
  group: GroupModel,
  process: SimulatedProcess,
  member: string,
  { onMembers, report, onLapse }: GroupMember,
): Promise<Joined & { isCurrent(): boolean }> {
  let sentAt = Number.POSITIVE_INFINITY;
  let [hasLapsed, isRetiring, hasLeft] = [false, false, false];
  const isCurrent = (): boolean => performance.now() - sentAt < heartbeatTtlMs;
  const beat = async (): Promise<void> => {
    if (!isCurrent() && !hasLapsed) {
      hasLapsed = true;
      onLapse?.();
    }
    const now = performance.now();
    const { holds, isRetiring: isStandby = false } = report();
    await process.request("nats", () => group.put(member, { holds, isRetiring: isRetiring || isStandby }));
    sentAt = now;
    hasLapsed = false;
  };
  await beat();
  let beating: Promise<void> | undefined;
  let soon: NodeJS.Timeout | undefined;
  const beatNow = (): void => {
    beating ??= beat()
      .catch(() => undefined)
      .finally(() => (beating = undefined));
  };
  const timer = setInterval(beatNow, heartbeatEveryMs);
  const feed = new Feed(process, onMembers);
  await feed.open(() => group.follow(feed));
  const reportSoon = (): void => {
    if (hasLeft) return;
    soon ??= setTimeout(() => {
      soon = undefined;
      if (beating === undefined) beatNow();
      else void beating.then(reportSoon);
    }, settleMs);
  };
  return {
    isCurrent,
    reportSoon,
    report: beat,
    retire: async () => {
      isRetiring = true;
      await beat().catch(() => undefined);
    },
    leave: async () => {
      hasLeft = true;
      feed.close();
      clearInterval(timer);
      clearTimeout(soon);
      await process.request("nats", () => group.delete(member)).catch(() => undefined);
    },
  };
}
