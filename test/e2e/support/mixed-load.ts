import { setTimeout as sleep } from "node:timers/promises";
import { seeded } from "../../support/random.ts";
import { until } from "../../support/until.ts";
import type { Cluster } from "../../support/system/cluster.ts";
import type { Behaviour } from "./failing-endpoint.ts";
import { send, type Pair } from "./sources-with-endpoints.ts";

export interface Running {
  /** Resolves when its last request has ended. */
  stop(): Promise<void>;
}

export interface Load extends Running {
  /** Resolves when requests have been sent for that time more. */
  untilMoreAreSent(seconds?: number): Promise<void>;
}

export function oneOf<Item>(items: readonly Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("there is nothing to choose from");
  return item;
}

/** Sends requests at a steady rate until `stop` is called. A request may fail. */
export function startLoad(perSecond: number, sendOne: () => Promise<unknown>): Load {
  const underWay = new Set<Promise<unknown>>();
  let sent = 0;
  const timer = setInterval(() => {
    sent++;
    const settled = sendOne()
      .catch(() => undefined)
      .finally(() => underWay.delete(settled));
    underWay.add(settled);
  }, 1_000 / perSecond);
  return {
    untilMoreAreSent: async (seconds = 0.5) => {
      const before = sent;
      await until(() => sent > before + perSecond * seconds, "more requests were sent");
    },
    stop: async () => {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}

const oneInTurn = <Item>(items: readonly Item[], turn: number): Item => oneOf(items, () => (turn % items.length) / items.length);

let requests = 0;

/** Sends small and large requests at a steady rate, with reads and changes through the API, until `stop` is called. */
export function load(cluster: Cluster, pairs: readonly Pair[], perSecond: number): Load {
  const sending = startLoad(perSecond, async () => {
    const number = ++requests;
    await send(oneInTurn(pairs, number), `q${number}`, number % 10 === 0 ? { ballast: "x".repeat(20_000) } : {});
  });
  const changing = startLoad(1, () =>
    Promise.all([
      cluster.call("GET", `/sources/${pairs[0]?.source}/event_summaries`),
      cluster.call("PUT", `/webhooks/${pairs[1]?.webhook}`, { name: `after ${requests} requests` }),
    ]),
  );
  return {
    untilMoreAreSent: (seconds) => sending.untilMoreAreSent(seconds),
    stop: async () => {
      await Promise.all([sending.stop(), changing.stop()]);
    },
  };
}

/** Half of the requests are answered at once. A hanging request holds a concurrency permit for 15 seconds, so it is rare. */
const behaviours: readonly Behaviour[] = ["answers", "answers", "answers", "answers", "fails", "fails", "resets", "asks to wait"];
const hangsOneIn = 60;

/** Makes endpoints fail in five ways: 500, no response, connection refused, connection reset, 429 with Retry-After. `stop` ends that. */
export function failing(pairs: readonly Pair[], seed: number): Running {
  const stopping = new AbortController();
  const random = seeded(seed);
  for (const { endpoint } of pairs) endpoint.behave(() => (random() * hangsOneIn < 1 ? "hangs" : oneOf(behaviours, random)));
  const pause = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const refusing = (async () => {
    while (!stopping.signal.aborted) {
      await pause(3_000);
      const listenAgain = await oneOf(pairs, random).endpoint.refuse();
      await pause(1_500);
      await listenAgain();
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await refusing;
      for (const { endpoint } of pairs) endpoint.behave(() => "answers");
    },
  };
}
