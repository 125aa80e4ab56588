import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster, type Cluster, type Target } from "../support/system/cluster.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { until } from "../support/until.ts";
import { expectHistory, expectOneIdEach } from "./support/ledger.ts";
import { load as startMixedLoad, type Load } from "./support/mixed-load.ts";
import { closeAgent, createPair, eventsOf, taken, type Pair } from "./support/sources-with-endpoints.ts";

const [pairCount, requestsPerSecond, longerThanAckWaitMs] = [6, 60, 13_000] as const;
let directory: TemporaryDirectory;
let cluster: Cluster;
const pairs: Pair[] = [];

beforeAll(async () => {
  directory = await temporaryDirectory("faults");
  cluster = await startCluster(directory.path);
  for (let n = 0; n < pairCount; n++) pairs.push(await createPair(cluster));
});
afterAll(async () => {
  await cluster.stop();
  await Promise.all(pairs.map(({ endpoint }) => endpoint.close()));
  await closeAgent();
  await directory.remove();
});

const load = (): Load => startMixedLoad(cluster, pairs, requestsPerSecond);

async function expectNothingLost(): Promise<void> {
  for (const pair of pairs) {
    await expectHistory(cluster, pair);
    const events = await eventsOf(cluster, pair.source);
    await until(() => {
      const heard = taken(pair);
      return events.every(({ request }) => heard.has(request));
    }, `the webhook receives each event of ${pair.source}`);
    expectOneIdEach(pair);
  }
}

describe("under load, while runners join and leave", () => {
  it("moves sources between runners without losing a run or committing it twice", async () => {
    const loading = load();
    for (const leave of ["stop", "kill"] as const) {
      const joined = await cluster.addRunner();
      await loading.untilMoreAreSent(1);
      await joined[leave]();
      await loading.untilMoreAreSent();
    }
    await loading.stop();
    await expectNothingLost();
  });
});

describe("under load, killed with -9 and started again", () => {
  const targets: readonly Target[] = ["sandbox", "runner", "delivery", "operator", "ingress", "api", "builder", "nats", "postgres"];
  it.each(targets)("%s: each accepted request runs once, is stored once and is delivered", async (target) => {
    const loading = load();
    await loading.untilMoreAreSent(); // The kill must interrupt work.
    for (let round = 0; round < 3; round++) {
      await cluster.kill(target);
      await loading.untilMoreAreSent();
    }
    // A killed NATS server loses its last acks and redelivers those messages after the ack wait.
    if (target === "nats") await sleep(longerThanAckWaitMs);
    await loading.stop();
    await expectNothingLost();
    expect(pairs.reduce((sum, { accepted }) => sum + accepted.size, 0)).toBeGreaterThan(0);
  });
});

describe("under load, suspended for longer than the ack wait", () => {
  it.each(["nats", "runner", "delivery", "ingress"] as const)(
    "%s: each accepted request runs once, is stored once and is delivered",
    async (target) => {
      const loading = load();
      await loading.untilMoreAreSent();
      await cluster.stall(target, longerThanAckWaitMs);
      await loading.untilMoreAreSent();
      await loading.stop();
      await expectNothingLost();
    },
  );
});
