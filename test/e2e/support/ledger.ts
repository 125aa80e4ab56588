import { expect } from "vitest";
import type { Cluster } from "../../support/system/cluster.ts";
import { until } from "../../support/until.ts";
import type { Client } from "../../support/system/client.ts";
import { eventsOf, idsHeard, taken, type Pair } from "./sources-with-endpoints.ts";

/** The time in epoch ms during which a process was down; `until` is when all were back. */
export interface Disturbance {
  readonly from: number;
  until: number;
}

interface Listed {
  readonly delivery_id: string;
  readonly event_id: string;
  readonly attempt: number;
  readonly at_ms: number;
  readonly response_status: number | null;
  readonly cause: string | null;
}

type Asked = Pick<Client, "call">;

/** The history records an attempt within this time after its end, even on a slow machine. */
const writtenMs = 10_000;
/** Shorter than the time after which the next attempt of a slow one is stored. */
const slowAttemptMs = 500;
/** An attempt without a response ends after this time. */
const maxAttemptMs = 15_000;
/** A webhook's list holds this many attempts. */
const maxListed = 500;

export async function untilAccepted({ accepted, source }: Pair, isThere: (name: string) => boolean, where: string): Promise<void> {
  const missing = () => [...accepted].filter((name) => !isThere(name));
  await until(() => missing().length === 0, `each accepted request of ${source} reaches ${where}`, { more: () => missing().join(" ") });
}

/** Waits until every accepted request has reached its endpoint and no delivery is pending. */
export async function untilQuiet(cluster: Cluster, pairs: readonly Pair[]): Promise<void> {
  for (const pair of pairs) {
    let names = taken(pair);
    await untilAccepted(pair, (name) => names.has(name) || (names = taken(pair)).has(name), "its endpoint");
  }
  let lastBacklog: unknown;
  const isQuiet = async (): Promise<boolean> => {
    const backlog = await cluster.backlog();
    lastBacklog = backlog;
    return backlog !== undefined && backlog.unrouted + backlog.due + backlog.scheduled === 0;
  };
  try {
    await until(isQuiet, "no delivery is pending", { more: () => JSON.stringify(lastBacklog) });
  } catch (error) {
    throw new Error(await cluster.leftDeliveries(), { cause: error });
  }
}

/**
 * Expects each accepted request once in the history, and each run counted once in the db.
 * @returns the minimum number of runs: a run without new events leaves none in the history
 */
export async function expectHistory(asked: Asked, pair: Pair): Promise<number> {
  const { source, heardSource, accepted, sent } = pair;
  for (const id of new Set([source, heardSource])) {
    let names: readonly string[] = [];
    await until(
      async () => {
        names = (await eventsOf(asked, id)).map(({ request }) => request);
        const seen = new Set(names);
        return [...accepted].every((name) => seen.has(name));
      },
      `the history of ${id} has each accepted request`,
      { more: () => `${names.length} of ${accepted.size}` },
    );
  }
  const events = await eventsOf(asked, source);
  expect(events.every(({ request }) => sent.has(request))).toBe(true);
  expect(new Set(events.map(({ request }) => request)).size, "each request has one event").toBe(events.length);
  // Newest first, without a gap.
  expect(events.map(({ n }) => n)).toEqual(Array.from({ length: events.length }, (_, index) => events.length - index));
  if (heardSource === source) return events.length;
  const heard = (await eventsOf(asked, heardSource)).map(({ request }) => request);
  expect(heard.toSorted(), "the listener has emitted once for each event").toEqual(events.map(({ request }) => request).toSorted());
  return events.length + heard.length;
}

export function expectOneIdEach(pair: Pair): void {
  for (const [name, ids] of idsHeard(pair)) expect([...ids], `${name} keeps its id`).toHaveLength(1);
}

/**
 * Compares the list of attempts with the requests that the endpoint counted, as far as the list reaches back. No attempt is listed twice or
 * without a request. The list is complete for events that no disturbance met since their emission. Otherwise the delivery role may have
 * ended before it recorded an attempt, or may have repeated an attempt and its successors under the same numbers.
 */
export async function expectAttempts(asked: Asked, pair: Pair, disturbances: readonly Disturbance[]): Promise<void> {
  const all = await attemptsOf(asked, pair.webhook);
  // The list is ordered by end: a long attempt may have begun before some that the list has already dropped.
  const oldest = all.length < maxListed ? 0 : (all.at(-1)?.at_ms ?? 0) + maxAttemptMs + writtenMs;
  const listedById = Map.groupBy(all, ({ delivery_id }) => delivery_id.slice(0, delivery_id.lastIndexOf(".")));
  for (const [id, made] of Map.groupBy(pair.endpoint.heard, (heard) => heard.id)) {
    const listed = listedById.get(id) ?? [];
    expect(new Set(listed.map(({ attempt }) => attempt)).size, `each attempt of ${id} is listed once`).toBe(listed.length);
    expect(listed.filter(reachedEndpoint).length, `${id} has listed attempts that were not made`).toBeLessThanOrEqual(made.length);
    // A slow attempt may be repeated while it is still running.
    if (made.some(({ at, endedAt }) => endedAt === undefined || endedAt - at > slowAttemptMs)) continue;
    const times = [...made.flatMap(({ at, endedAt }) => [at, endedAt ?? at]), ...listed.flatMap((one) => [one.at_ms, emittedAt(one)])];
    if (Math.min(...times) < oldest || isDisturbed(Math.min(...times), Math.max(...times), disturbances)) continue;
    const answered = made.filter(({ status }) => status !== undefined);
    const both = (): string => JSON.stringify({ made, listed });
    expect(listed.filter(isNotRefused).length, `attempts of ${id} are missing: ${both()}`).toBeGreaterThanOrEqual(answered.length);
  }
}

/** Epoch ms, from the id of the event. */
const emittedAt = ({ event_id }: Listed): number => Number(event_id.split("-")[0]);

const isDisturbed = (first: number, last: number, disturbances: readonly Disturbance[]): boolean =>
  disturbances.some(({ from, until: end }) => first < end + writtenMs && last > from - writtenMs);

const isNotRefused = ({ cause }: Listed): boolean => cause?.startsWith("ECONNREFUSED") !== true;

/** False after a broken connection: the endpoint may not have received the request. */
const reachedEndpoint = ({ response_status, cause }: Listed): boolean => response_status !== null || cause?.startsWith("timeout") === true;

async function attemptsOf(asked: Asked, webhook: string): Promise<readonly Listed[]> {
  const all: Listed[] = [];
  for (let after = ""; ;) {
    const path = `/webhooks/${webhook}/deliveries?limit=100${after}`;
    const { status, text, body } = await asked.call<{ page_info: { end_cursor: string }; data: Listed[] }>("GET", path);
    if (status !== 200) throw new Error(`GET ${path} answers ${status} ${text}`);
    all.push(...body.data);
    if (body.data.length < 100) return all;
    after = `&after=${body.page_info.end_cursor}`;
  }
}
