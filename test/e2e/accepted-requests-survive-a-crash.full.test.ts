import { afterAll, beforeAll, expect, it } from "vitest";
import { disorder } from "../support/order.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster, type Target } from "../support/system/cluster.ts";
import { until } from "../support/until.ts";
import { expectHistory, expectOneIdEach, untilQuiet } from "./support/ledger.ts";
import { load } from "./support/mixed-load.ts";
import { closeAgent, createPair, eventsOf, relay, taken, type Pair } from "./support/sources-with-endpoints.ts";

/** Kills each process once. accepted-requests-survive-crashes.soak.test.ts kills and suspends them repeatedly. */
const targets: readonly Target[] = ["sandbox", "runner", "delivery", "operator", "ingress", "api", "builder", "nats", "postgres"];
const requestsPerSecond = 6;

let directory: TemporaryDirectory;
let cluster: Cluster;
const pairs: Pair[] = [];

beforeAll(async () => {
  directory = await temporaryDirectory("crash");
  cluster = await startCluster(directory.path);
  pairs.push(await createPair(cluster), await createPair(cluster, relay), await createPair(cluster, undefined, { ordered: true }));
});
afterAll(async () => {
  await cluster.stop();
  await Promise.all(pairs.map(({ endpoint }) => endpoint.close()));
  await closeAgent();
  await directory.remove();
});

it("runs, records and delivers each accepted request once while every process is killed under load", async () => {
  const loading = load(cluster, pairs, requestsPerSecond);
  for (const target of targets) {
    const before = new Map(pairs.map((pair) => [pair, taken(pair).size]));
    await cluster.kill(target);
    const goesOn = (): boolean => pairs.every((pair) => taken(pair).size > (before.get(pair) ?? 0) + 2);
    await until(goesOn, `each webhook receives further events after ${target} was killed`);
  }
  await loading.stop();
  await untilQuiet(cluster, pairs);
  for (const pair of pairs) {
    expect(await expectHistory(cluster, pair)).toBeGreaterThan(targets.length);
    expectOneIdEach(pair);
  }
  const ordered = pairs.at(-1);
  if (ordered === undefined) throw new Error("the ordered webhook was not created");
  const emitted = (await eventsOf(cluster, ordered.source)).map(({ request }) => request).toReversed();
  expect(
    disorder(
      emitted,
      ordered.endpoint.heard.map(({ request }) => request),
    ),
  ).toBeUndefined();
});
