import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startCluster, type Cluster } from "./support/cluster.ts";
import { until } from "./support/headwater.ts";
import { closeAgent, createPair, idsHeard, send, taken, type Pair } from "./support/sources-with-endpoints.ts";

const waitMs = 120_000;
const pairs: Pair[] = [];
let directory: TemporaryDirectory;
let cluster: Cluster;

beforeAll(async () => {
  directory = await temporaryDirectory("holding");
  cluster = await startCluster(directory.path);
  for (let n = 0; n < 4; n++) pairs.push(await createPair(cluster));
}, 400_000);
afterAll(async () => {
  await cluster.stop();
  await Promise.all(pairs.map(({ endpoint }) => endpoint.close()));
  await closeAgent();
  await directory.remove();
}, 60_000);

const heldIn = ({ endpoint }: Pair) => endpoint.heard.filter(({ endedAt }) => endedAt === undefined);
/** Both processes, one after the other: each holds requests of its own partitions. */
async function killDelivery(): Promise<void> {
  await cluster.kill("delivery");
  await cluster.kill("delivery");
}
const unrouted = () => cluster.backlog().then((backlog) => backlog?.unrouted);

describe("delivery, killed with -9 while endpoints hold its requests", () => {
  it("makes each of them again, under the same id", async () => {
    for (const { endpoint } of pairs) endpoint.behave(() => "hangs");
    for (let n = 0; n < 20; n++) for (const pair of pairs) await send(pair, `q${n}`);
    expect(pairs.map(({ accepted }) => accepted.size)).toEqual(pairs.map(() => 20));
    // Straight from the run: nothing but the floor of the stream remembers them.
    await until(() => pairs.every((pair) => heldIn(pair).length > 0), "each endpoint holds a request", waitMs);
    const cut = pairs.flatMap((pair) => heldIn(pair).map((one) => ({ pair, one })));
    await killDelivery();
    await until(() => cut.every(({ one }) => one.endedAt !== undefined), "what was held broke off", waitMs);
    // And some that are messages of their own by now.
    await until(() => pairs.every((pair) => heldIn(pair).length > 3), "each endpoint holds several", waitMs);
    cut.push(...pairs.flatMap((pair) => heldIn(pair).map((one) => ({ pair, one }))));
    await killDelivery();
    for (const { endpoint } of pairs) endpoint.behave(() => "answers");
    await until(() => pairs.every((pair) => [...pair.accepted].every((name) => taken(pair).has(name))), "each event is taken", waitMs);
    for (const { pair, one } of cut) {
      const same = pair.endpoint.heard.filter(({ request }) => request === one.request);
      expect(same.length, "it came once more").toBeGreaterThan(1);
    }
    for (const pair of pairs) for (const ids of idsHeard(pair).values()) expect(ids.size).toBe(1);
  }, 300_000);
});

describe("an endpoint that answers after 14 of its 15 seconds", () => {
  it("keeps the floor of the stream down for a few seconds, however much its source emits at once", async () => {
    const [slow, other] = pairs;
    if (slow === undefined || other === undefined) throw new Error("there are no sources");
    await until(async () => (await unrouted()) === 0, "all before is routed", waitMs);
    const before = slow.endpoint.heard.length;
    slow.endpoint.behave(() => "answers late");
    // One second each would be four minutes.
    const events = 240;
    await send(slow, "many", { events });
    await until(() => slow.endpoint.heard.length > before, "the first one is under way", waitMs);
    await send(other, "beside");
    await until(() => taken(other).has("beside"), "another endpoint hears meanwhile", 60_000);
    await until(async () => (await unrouted()) === 0, "nothing of it keeps the floor down", 60_000);
    slow.endpoint.behave(() => "answers");
    const names = ["many", ...Array.from({ length: events - 1 }, (_, index) => `many+${index + 1}`)];
    await until(() => names.every((name) => taken(slow).has(name)), "each event is taken", waitMs);
    for (const ids of idsHeard(slow).values()) expect(ids.size).toBe(1);
  }, 300_000);
});
