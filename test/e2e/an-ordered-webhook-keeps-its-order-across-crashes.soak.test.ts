import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { disorder, returns } from "../support/order.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster } from "../support/system/cluster.ts";
import type { Behaviour } from "./support/failing-endpoint.ts";
import { until } from "../support/until.ts";
import { addSource, closeAgent, createPair, eventsOf, idsHeard, send, taken, type Pair } from "./support/sources-with-endpoints.ts";

/** Pause between two requests to a source. The source emits more than a failing endpoint accepts, and less than a working one does. */
const pauseMs = 150;
const kills = ["delivery", "nats", "delivery", "runner", "nats", "delivery"] as const;
/** Applied in turn, so that every run of the test is alike. */
const behaviours: readonly Behaviour[] = ["answers", "answers", "fails", "answers", "resets", "answers", "answers"];

let directory: TemporaryDirectory;
let cluster: Cluster;
let sources: readonly Pair[];

beforeAll(async () => {
  directory = await temporaryDirectory("ordered");
  cluster = await startCluster(directory.path, { env: { HEADWATER_DELIVERY_RETRY: "50ms,100ms,200ms,400ms,800ms,2s,4s,8s,16s" } });
  const first = await createPair(cluster, undefined, { ordered: true });
  sources = [first, await addSource(cluster, first)];
});
afterAll(async () => {
  await cluster.stop();
  await sources[0]?.endpoint.close();
  await closeAgent();
  await directory.remove();
});

/**
 * Compares each source's history with the requests of its endpoint: every event arrives, in order. Each kill may return the order to an
 * earlier event once, from which it continues.
 */
it("delivers every event in order while processes are killed with -9", async () => {
  const [first] = sources;
  if (first === undefined) throw new Error("there is no webhook");
  const { endpoint } = first;
  let turn = 0;
  const missing = (names: Iterable<string>): readonly string[] => {
    const all = taken(first);
    return [...names].filter((name) => !all.has(name));
  };
  endpoint.behave(() => (++turn % 100 === 0 ? "asks to wait" : (behaviours[turn % behaviours.length] ?? "answers")));
  let isOver = false;
  const sending = Promise.all(
    sources.map(async (source, which) => {
      for (let n = 0; !isOver; n++) {
        await send(source, `s${which}r${n}`, { events: 1 + (n % 3) });
        await setTimeout(pauseMs);
      }
    }),
  );
  for (const target of kills) {
    const before = endpoint.heard.length;
    await until(() => endpoint.heard.length > before + 20, "the endpoint receives 20 more requests");
    await cluster.kill(target);
  }
  isOver = true;
  await sending;
  endpoint.behave(() => "answers");
  for (const [which, source] of sources.entries()) {
    await until(() => missing(source.accepted).length === 0, "the endpoint has received each accepted request", {
      more: () =>
        `${missing(source.accepted).length} of ${source.accepted.size}, from ${missing(source.accepted)[0]} on; heard ${endpoint.heard.length}`,
    });
    const expected = async () => (await eventsOf(cluster, source.source)).map(({ request }) => request).toReversed();
    await until(async () => missing(await expected()).length === 0, "the endpoint has accepted each event");
    const heard = endpoint.heard.map(({ request }) => request).filter((name) => name.startsWith(`s${which}`));
    const recordsAll = async (): Promise<boolean> => {
      const recorded = new Set(await expected());
      return heard.every((name) => recorded.has(name));
    };
    await until(recordsAll, "each event that was delivered is in the history");
    expect(disorder(await expected(), heard)).toBeUndefined();
    expect(returns(await expected(), heard)).toBeLessThanOrEqual(kills.length);
  }
  for (const [name, ids] of idsHeard(first)) expect([...ids], `${name} keeps its id`).toHaveLength(1);
  // Attempts do not overlap, except with one that a killed process had started.
  const overlaps = endpoint.heard.filter(({ at }, index) => index > 0 && (endpoint.heard[index - 1]?.endedAt ?? at) > at);
  expect(overlaps.length).toBeLessThanOrEqual(kills.length);
});
