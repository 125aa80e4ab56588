import { expect } from "vitest";
import type { Cluster } from "./cluster.ts";
import { until } from "./headwater.ts";
import { eventsOf, idsHeard, taken, type Pair } from "./sources-with-endpoints.ts";

/** Epoch ms during which somebody was away; `until` is when all were back. */
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

type Asked = Pick<Cluster, "call">;

const waitMs = 240_000;
/** Attempts are written down long before that after they have ended, also on a slow machine. */
const writtenMs = 10_000;
/** Less than an attempt may take before its next one is written. */
const patienceMs = 500;
/** An attempt that gets no answer ends after that long. */
const longestMs = 15_000;
/** As many are listed of a webhook. */
const mostListed = 500;

export async function untilAccepted({ accepted, source }: Pair, isThere: (name: string) => boolean, where: string): Promise<void> {
  const missing = () => [...accepted].filter((name) => !isThere(name));
  await until(
    () => missing().length === 0,
    `each accepted request of ${source} reaches ${where}`,
    waitMs,
    () => missing().join(" "),
  );
}

/** Every accepted request has reached its endpoint and nothing is under way. */
export async function untilQuiet(cluster: Cluster, pairs: readonly Pair[]): Promise<void> {
  for (const pair of pairs) {
    let names = taken(pair);
    await untilAccepted(pair, (name) => names.has(name) || (names = taken(pair)).has(name), "its endpoint");
  }
  let told: unknown;
  const isQuiet = async (): Promise<boolean> => {
    const backlog = await cluster.backlog();
    told = backlog;
    return backlog !== undefined && backlog.unrouted + backlog.due + backlog.scheduled === 0;
  };
  try {
    await until(isQuiet, "nothing is under way", waitMs, () => JSON.stringify(told));
  } catch (error) {
    throw new Error(await cluster.leftDeliveries(), { cause: error });
  }
}

/** The history has each accepted request once, and the db has counted each run once. @returns how many runs there were, at least: one that emits nothing new leaves no event */
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
      waitMs,
      () => `${names.length} of ${accepted.size}`,
    );
  }
  const events = await eventsOf(asked, source);
  expect(events.every(({ request }) => sent.has(request))).toBe(true);
  expect(new Set(events.map(({ request }) => request)).size, "each request has one event").toBe(events.length);
  // Newest first, without a gap.
  expect(events.map(({ n }) => n)).toEqual(Array.from({ length: events.length }, (_, index) => events.length - index));
  if (heardSource === source) return events.length;
  const heard = (await eventsOf(asked, heardSource)).map(({ request }) => request);
  expect(heard.toSorted(), "what listens has emitted for each event once").toEqual(events.map(({ request }) => request).toSorted());
  return events.length + heard.length;
}

export function expectOneIdEach(pair: Pair): void {
  for (const [name, ids] of idsHeard(pair)) expect([...ids], `${name} keeps its id`).toHaveLength(1);
}

/**
 * The list of attempts against what the endpoint counted, as far as the list reaches back. None is listed that was not made, or twice. All are
 * listed of an event that no disturbance met from its emission on: else one may have been under way or not yet written when the delivery role ended, or was made again
 * under its own number since its end was forgotten, and so were those that follow from it.
 */
export async function expectAttempts(asked: Asked, pair: Pair, disturbances: readonly Disturbance[]): Promise<void> {
  const all = await attemptsOf(asked, pair.webhook);
  // They are kept in the order in which they ended: one that took long may have begun before some that are not kept any more.
  const oldest = all.length < mostListed ? 0 : (all.at(-1)?.at_ms ?? 0) + longestMs + writtenMs;
  const told = Map.groupBy(all, ({ delivery_id }) => delivery_id.slice(0, delivery_id.lastIndexOf(".")));
  for (const [id, made] of Map.groupBy(pair.endpoint.heard, (heard) => heard.id)) {
    const listed = told.get(id) ?? [];
    expect(new Set(listed.map(({ attempt }) => attempt)).size, `each attempt of ${id} is listed once`).toBe(listed.length);
    expect(listed.filter(reachedEndpoint).length, `attempts of ${id} are listed that were not made`).toBeLessThanOrEqual(made.length);
    // What outlives its patience may be repeated while it is under way.
    if (made.some(({ at, endedAt }) => endedAt === undefined || endedAt - at > patienceMs)) continue;
    const times = [...made.flatMap(({ at, endedAt }) => [at, endedAt ?? at]), ...listed.flatMap((one) => [one.at_ms, emittedAt(one)])];
    if (Math.min(...times) < oldest || isDisturbed(Math.min(...times), Math.max(...times), disturbances)) continue;
    const answered = made.filter(({ status }) => status !== undefined);
    const both = (): string => JSON.stringify({ made, listed });
    expect(listed.filter(isNotRefused).length, `attempts of ${id} are missing: ${both()}`).toBeGreaterThanOrEqual(answered.length);
  }
}

/** Epoch ms, as the id of the event tells. */
const emittedAt = ({ event_id }: Listed): number => Number(event_id.split("-")[0]);

const isDisturbed = (first: number, last: number, disturbances: readonly Disturbance[]): boolean =>
  disturbances.some(({ from, until: end }) => first < end + writtenMs && last > from - writtenMs);

const isNotRefused = ({ cause }: Listed): boolean => cause?.startsWith("ECONNREFUSED") !== true;

/** One whose connection broke may not have come so far that the endpoint could count it, or the answer did not come so far. */
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
